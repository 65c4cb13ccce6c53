/** Installs a hub on a throwaway machine and talks to it. */
import assert from 'node:assert/strict'
import { copyFile, link } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { writeTinyGguf } from '../../tests/hub/support/tiny-gguf.ts'
import { boot, copyRoot, type Machine } from './machine.ts'

export type Bundles = { first: string; second: string; broken: string; installer: string }
export type Measurements = Record<string, number | string>

export const ADMIN_PASSWORD = 'correct horse battery'

/** withMachine boots a copy of a root that contains the bundles, and removes it afterwards. */
export async function withMachine<T>(
  base: string,
  bundles: Bundles,
  work: (machine: Machine) => Promise<T>,
): Promise<T> {
  const root = await copyRoot(base)
  for (const file of [bundles.first, bundles.second, bundles.broken]) {
    await link(file, join(root, 'root', basename(file)))
  }
  await copyFile(bundles.installer, join(root, 'root/install.sh'))
  await writeTinyGguf(join(root, 'root/tiny.gguf'))
  const machine = await boot(root)
  try {
    return await work(machine)
  } finally {
    await machine.stop()
  }
}

/** The command that installs a version. */
export const installCommand = (version: string, more = '') =>
  `sh /root/install.sh --bundle=/root/watchpost-hub-${version}-linux-x64.tar.gz --offline --yes ${more}`
/** The command that upgrades to a version. */
export const upgradeCommand = (version: string) =>
  `watchpost-hub upgrade --bundle=/root/watchpost-hub-${version}-linux-x64.tar.gz --offline`

/** The lines of a shell function that call a step, by their index in the script. */
export function stepLines(lines: string[], name: string, steps: RegExp): number[] {
  const begin = lines.indexOf(`${name}() {`)
  const end = lines.indexOf('}', begin)
  assert.ok(begin >= 0 && end > begin, `install.sh has no function ${name}`)
  return lines.flatMap((line, index) =>
    index > begin && index < end && steps.test(line) ? [index] : [],
  )
}

/** Runs a script that must succeed; returns its output. */
export async function runOk(machine: Machine, script: string): Promise<string> {
  const { code, stdout, stderr } = await machine.sh(script)
  assert.equal(code, 0, `${script}\nanswered ${code}:\n${stdout}${stderr}`)
  return stdout
}

/** Calls the API through nginx, with the local token. */
export async function call(machine: Machine, method: string, path: string, body?: unknown) {
  const data =
    body === undefined ? '' : `-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`
  const out = await runOk(
    machine,
    `curl -sS -w '\\n%{http_code}' -X ${method} -H "Authorization: Bearer $(cat /etc/watchpost/hub.token)" ${data} http://127.0.0.1/api/cockpit/${path}`,
  )
  const end = out.lastIndexOf('\n')
  return { status: Number(out.slice(end + 1)), body: JSON.parse(out.slice(0, end) || 'null') }
}

export async function waitUntil<T>(look: () => Promise<T | undefined>, what: string): Promise<T> {
  for (let tries = 0; tries < 240; tries += 1) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  throw new Error(`Timed out waiting until ${what}`)
}

/** The hub's health, as soon as it answers; `trust` are the options of curl for its certificate. */
export const health = (machine: Machine, origin = 'http://127.0.0.1', trust = '') =>
  waitUntil(async () => {
    const { code, stdout } = await machine.sh(`curl -sf ${trust} ${origin}/api/cockpit/health`)
    return code === 0 ? JSON.parse(stdout) : undefined
  }, 'the hub answers')

/** signUp does the first steps of the wizard: a password, then the service key. */
export async function signUp(machine: Machine, code: string): Promise<void> {
  assert.equal(
    (await call(machine, 'POST', 'setup', { code, password: ADMIN_PASSWORD })).status,
    200,
  )
  const early = await call(machine, 'POST', 'projects/create', { slug: 'demir', name: 'Demir' })
  assert.equal(early.body.code, 'read_only_key')
  const key = (await runOk(machine, 'watchpost-hub service-key show')).trim()
  assert.equal((await call(machine, 'POST', 'settings/service_key', { key })).status, 202)
  await waitUntil(async () => {
    const { stdout } = await machine.sh('curl -sf http://127.0.0.1/api/cockpit/health')
    return stdout.includes('hub_rw') ? true : undefined
  }, 'the hub restarts with the service key')
}

/** The checksums of the machine's secrets. */
export const secretsOf = (machine: Machine) =>
  runOk(machine, 'cd /etc/watchpost && sha256sum service.key public.key hub.token')

/**
 * Lists all files except those that change by themselves, of running programs and of this proof.
 */
export const filesOf = async (machine: Machine) =>
  (
    await runOk(
      machine,
      'find / -xdev \\( -path /proc -o -path /sys -o -path /run -o -path /dev -o -path /root -o -path /tmp -o -path /var/tmp -o -path /var/log/journal \\) -prune -o -print | sort',
    )
  ).split('\n')

/** Runs a statement as the owner of the installed database. */
export const sqlOf = (statement: string) => `/opt/watchpost/current/bin/node -e "
  const { Client } = require('/opt/watchpost/current/node_modules/pg');
  const c = new Client('postgres://postgres@localhost/hub?host=/run/watchpost-db&port=8771');
  c.connect().then(() => c.query('${statement}')).then((r) => { console.log(JSON.stringify(r.rows)); return c.end() })"`
