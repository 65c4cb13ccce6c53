/**
 * `npm run proof -- install`: tests the bundle and install.sh on throwaway machines: installs,
 * uses, upgrades, rolls back, kills and removes the hub on a Debian without a network.
 */
import assert from 'node:assert/strict'
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BundleOptions, digestOf, gatherPayload, packBundle } from '../build/hub-bundle.ts'
import {
  ADMIN_PASSWORD,
  type Bundles,
  call,
  filesOf,
  health,
  installCommand,
  type Measurements,
  runOk,
  secretsOf,
  signUp,
  sqlOf,
  upgradeCommand,
  waitUntil,
  withMachine,
} from './installed.ts'
import { createRoot, type Machine } from './machine.ts'
import { killedAnywhere, killedUpgrade } from './prove-kills.ts'
import { proveLinks } from './prove-links.ts'
import { twoMembers } from './prove-members.ts'
import { proveReader } from './prove-reader.ts'
import { refusals } from './prove-refusals.ts'

const INSTALL_SECONDS = 300

/** proveInstall runs every scenario and returns its counts; it throws at the first that fails. */
export async function proveInstall(debian = 'bookworm', only = ''): Promise<Measurements> {
  const work = await mkdtemp('/var/tmp/watchpost-prove-')
  try {
    const base = await createRoot(debian)
    const bundles = await makeBundles(work)
    const counted: Measurements = { debian }
    const chosen = Object.entries(SCENARIOS).filter(([name]) => name.includes(only))
    for (const [name, scenario] of chosen) {
      console.log(`\n${name}`)
      Object.assign(counted, await scenario(base, bundles))
    }
    return counted
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** A first version, a second one with a migration, and a third one that does not start. */
async function makeBundles(work: string): Promise<Bundles> {
  const { privateKey } = generateKeyPairSync('ed25519')
  const key = createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' }))
  const payload = join(work, 'payload')
  const options = (version: string): BundleOptions => ({
    out: join(work, version),
    version,
    install_url: '',
    key: key as KeyObject,
    license_keys: join(import.meta.dirname, '../../hub/license/license-keys.json'),
    is_test: true,
  })
  await gatherPayload(payload, options('1.0.0'))
  const first = await packBundle(payload, options('1.0.0'))
  await requireSame(first, join(work, 'again'), options('1.0.0'))
  const upgrades = join(payload, 'hub/sql/upgrades')
  await mkdir(upgrades, { recursive: true })
  await writeFile(
    join(upgrades, '20990101000000_probe.sql'),
    "create table hub.probe (id int primary key);\ncomment on table hub.probe is 'Of a proof.';\n",
  )
  const second = await packBundle(payload, options('1.1.0'))
  await writeFile(join(upgrades, '20990102000000_probe.sql'), 'drop table hub.probe;\n')
  await appendFile(join(payload, 'hub/main.ts'), "\nthrow new Error('broken for a proof')\n")
  const broken = await packBundle(payload, options('1.2.0'))
  return { first, second, broken, installer: join(work, '1.0.0', 'install.sh') }
}

/** A second build, with freshly installed modules, must be identical byte for byte. */
async function requireSame(first: string, folder: string, options: BundleOptions): Promise<void> {
  await gatherPayload(join(folder, 'payload'), options)
  const second = await packBundle(join(folder, 'payload'), { ...options, out: folder })
  assert.equal(await digestOf(second), await digestOf(first), 'two builds differ')
  await rm(folder, { recursive: true })
}

const SCENARIOS = {
  'installed, used, upgraded, rolled back and removed': wholeLife,
  'listening beyond loopback': beyondLoopback,
  'with TLS and two members': twoMembers,
  'killed after every step': killedAnywhere,
  'killed in an upgrade': killedUpgrade,
  'a web page read in a sandboxed browser': proveReader,
  'links to elsewhere behind every step': proveLinks,
  'two runs at once': twoAtOnce,
  'refused with a reason': refusals,
}

async function wholeLife(base: string, bundles: Bundles): Promise<Measurements> {
  return withMachine(base, bundles, async (machine) => {
    const before = await filesOf(machine)
    const began = performance.now()
    const told = await runOk(machine, installCommand('1.0.0', '--model=/root/tiny.gguf'))
    const install_seconds = Math.round((performance.now() - began) / 100) / 10
    assert.ok(install_seconds < INSTALL_SECONDS)
    assert.match(told, /http:\/\/127\.0\.0\.1\/hub\//)
    const code = /Set-up code\s+(\S+)/.exec(told)?.[1]
    assert.ok(code)
    assert.match(await runOk(machine, 'curl -sf http://127.0.0.1/hub/'), /<div id="root"|<main/)

    const restart_ms = await startTime(machine)
    const idle_mib = await memoryOf(machine)
    const secrets = await secretsOf(machine)
    const again = performance.now()
    await runOk(machine, installCommand('1.0.0'))
    const again_seconds = Math.round((performance.now() - again) / 100) / 10
    assert.equal(await secretsOf(machine), secrets)

    await useIt(machine, code)
    const lines = await runOk(machine, 'cat /etc/cron.d/watchpost')
    const nightly = /^0 3 \* \* \* watchpost (.*)$/m.exec(lines)?.[1]
    await runOk(machine, `setpriv --reuid=watchpost --regid=watchpost --init-groups ${nightly}`)
    const archive = (await runOk(machine, 'ls -t /var/lib/watchpost/backups | head -1')).trim()
    await runOk(machine, `watchpost-hub restore --check /var/lib/watchpost/backups/${archive}`)
    const [lead] = (await call(machine, 'GET', 'leads/list?project=demir')).body.leads
    assert.equal((await call(machine, 'POST', 'lead/delete', { lead_id: lead.id })).status, 200)
    await runOk(machine, `watchpost-hub restore --yes /var/lib/watchpost/backups/${archive}`)
    await health(machine)
    const { leads } = (await call(machine, 'GET', 'leads/list?project=demir')).body
    assert.equal(leads.length, 1)
    // A restored hub restarts itself.
    await waitUntil(
      async () => ((await machine.sh('watchpost-hub doctor')).code === 0 ? true : undefined),
      'the doctor is content',
    )

    await runOk(machine, upgradeCommand('1.1.0'))
    assert.equal((await health(machine)).version, '1.1.0')
    const probe = sqlOf('select count(*)::int from hub.probe')
    await runOk(machine, probe)
    const refused = await machine.sh(upgradeCommand('1.2.0'))
    assert.equal(refused.code, 10, refused.stdout + refused.stderr)
    assert.equal((await health(machine)).version, '1.1.0')
    await runOk(machine, probe)
    assert.equal((await call(machine, 'GET', 'leads/list?project=demir')).body.leads.length, 1)
    assert.equal(await secretsOf(machine), secrets)

    await runOk(machine, 'watchpost-hub uninstall')
    assert.equal(
      (await machine.sh('curl -sf http://127.0.0.1/api/cockpit/health')).code !== 0,
      true,
    )
    await runOk(machine, 'test -s /var/lib/watchpost/projects/demir/CONTEXT.md')
    await runOk(machine, installCommand('1.1.0'))
    assert.equal(await secretsOf(machine), secrets)
    assert.equal((await call(machine, 'GET', 'leads/list?project=demir')).body.leads.length, 1)
    await runOk(machine, 'watchpost-hub uninstall --purge --yes')
    const after = await filesOf(machine)
    const left = after.filter((file) => !before.includes(file) && !isOfTheSystem(file))
    assert.deepEqual(left, [])
    return { install_seconds, again_seconds, restart_ms, idle_mib }
  })
}

/**
 * Every address beyond loopback has TLS: a self-signed certificate for the machine's names, until
 * somebody supplies another.
 */
async function beyondLoopback(base: string, bundles: Bundles): Promise<Measurements> {
  return withMachine(base, bundles, async (machine) => {
    const told = await runOk(machine, installCommand('1.0.0', '--model=none --bind=0.0.0.0'))
    const name = (await runOk(machine, 'hostname')).trim()
    assert.match(told, new RegExp(`https://${name}/hub/`))
    const code = /Set-up code\s+(\S+)/.exec(told)?.[1]
    const certified = `curl -sS --cacert /etc/watchpost/tls/hub.crt --resolve ${name}:443:127.0.0.1 --resolve ${name}:80:127.0.0.1`
    assert.match(await runOk(machine, `${certified} https://${name}/hub/`), /<div id="root"|<main/)
    const plain = await runOk(
      machine,
      `${certified} -o /dev/null -w '%{http_code} %{redirect_url}' http://${name}/hub/`,
    )
    assert.equal(plain, `301 https://${name}/hub/`)
    const given = JSON.stringify({ code, password: ADMIN_PASSWORD })
    const set = await runOk(
      machine,
      `${certified} -i -H 'Content-Type: application/json' -d '${given}' https://${name}/api/cockpit/setup`,
    )
    assert.match(set, /^HTTP\/[\d.]+ 200/)
    assert.match(set, /set-cookie: .*Secure/i)

    const certificate = await runOk(machine, 'sha256sum /etc/watchpost/tls/hub.crt')
    await runOk(machine, installCommand('1.0.0'))
    assert.equal(await runOk(machine, 'sha256sum /etc/watchpost/tls/hub.crt'), certificate)
    await runOk(machine, `${certified} -f https://${name}/api/cockpit/health`)
    await named(machine)
    return {}
  })
}

/** A machine without a network gets no certificate for its name, says so, and takes one of its own. */
async function named(machine: Machine): Promise<void> {
  const host = 'hub.example.com'
  const missing = await runOk(machine, installCommand('1.0.0', `--name=${host} --offline`))
  assert.match(missing, /https:\/\/hub\.example\.com\/hub\//)
  assert.match(missing, /There is no certificate for hub\.example\.com yet/)
  assert.match(await runOk(machine, 'cat /etc/watchpost/hub.json'), /"https:\/\/hub\.example\.com"/)
  const own = await runOk(machine, installCommand('1.0.0', '--acme=none'))
  assert.match(own, /put your own in/)
  const reach = `curl -ksf --resolve ${host}:80:127.0.0.1 --resolve ${host}:443:127.0.0.1`
  await runOk(machine, 'mkdir -p /opt/watchpost/acme/.well-known/acme-challenge')
  await runOk(machine, 'echo answer > /opt/watchpost/acme/.well-known/acme-challenge/token')
  await runOk(machine, 'chmod -R a+rX /opt/watchpost/acme')
  const answer = await runOk(machine, `${reach} http://${host}/.well-known/acme-challenge/token`)
  assert.equal(answer, 'answer\n')
  await runOk(machine, `${reach} https://${host}/api/cockpit/health`)
}

/** Files that passwd's tools, nginx and systemd leave behind. */
function isOfTheSystem(file: string): boolean {
  return /^\/(etc\/\.pwd\.lock|etc\/(passwd|group|shadow|gshadow|subuid|subgid)-?$|var\/lib\/systemd\/|var\/lib\/nginx\/|var\/log\/|var\/lib\/private|var\/cache\/private|var\/spool\/cron)/.test(
    file,
  )
}

async function startTime(machine: Machine): Promise<number> {
  const began = performance.now()
  await runOk(machine, 'systemctl restart watchpost-hub')
  await health(machine)
  return Math.round(performance.now() - began)
}

/** The memory of the hub's process without a model, as the kernel counts what it does not share. */
async function memoryOf(machine: Machine): Promise<number> {
  const pss = await runOk(
    machine,
    'awk \'$1 == "Pss:" { print $2 }\' /proc/$(systemctl show -P MainPID watchpost-hub)/smaps_rollup',
  )
  return Math.round(Number(pss) / 1024)
}

/** Uses the hub through its API: the wizard, a project, a lead, and a mission with the model. */
async function useIt(machine: Machine, code: string): Promise<void> {
  await signUp(machine, code)
  const made = await call(machine, 'POST', 'projects/create', { slug: 'demir', name: 'Demir' })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const lead = { slug: 'demir', data: { name: 'Ayse', email: 'ayse@demir.example' } }
  assert.equal((await call(machine, 'POST', 'lead/quick_add', lead)).status, 201)
  assert.equal((await call(machine, 'GET', 'system_info')).status, 200)
  const task = { department: 'sales', task: 'Write a call script for Ayse.', project: 'demir' }
  const sent = await call(machine, 'POST', 'mission/compose', task)
  assert.equal(sent.status, 202, JSON.stringify(sent.body))
  const { id } = sent.body.mission
  const { status, reason } = await waitUntil(async () => {
    const { mission } = (await call(machine, 'GET', `missions/${id}`)).body
    return ['done', 'failed'].includes(mission.status) ? mission : undefined
  }, 'the mission ends')
  // With random weights a mission may fail, but only with a reason.
  assert.ok(status === 'done' || reason, `${status}: ${reason}`)
}

async function twoAtOnce(base: string, bundles: Bundles): Promise<Measurements> {
  return withMachine(base, bundles, async (machine) => {
    const codes = await Promise.all(
      [1, 2].map(async () => (await machine.sh(installCommand('1.0.0', '--model=none'))).code),
    )
    assert.deepEqual(codes.sort(), [0, 9])
    await health(machine)
    return { at_once: codes.join(' and ') }
  })
}

if (import.meta.main) console.log(await proveInstall(process.argv[2], process.argv[3]))
