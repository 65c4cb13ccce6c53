/** `npm run proof -- install`: a team of two at a hub that others reach by TLS. */
import assert from 'node:assert/strict'
import { z } from 'zod'
import {
  ADMIN_PASSWORD,
  type Bundles,
  health,
  installCommand,
  type Measurements,
  runOk,
  upgradeCommand,
  waitUntil,
  withMachine,
} from './installed.ts'
import type { Machine } from './machine.ts'

const PASSWORD = 'a long enough one'
const Lead = z.object({ id: z.string() })
const Invited = z.object({ member: z.object({ id: z.string() }), link: z.url() })
const Entries = z.object({
  audit: z.array(
    z.object({ actor: z.object({ name: z.string().nullable() }), action: z.string() }),
  ),
})

/**
 * The admin of a hub with TLS invites two people. Each joins by their link and does what their role
 * allows; an upgrade leaves both signed in, and whoever is removed is out at once.
 */
export async function twoMembers(base: string, bundles: Bundles): Promise<Measurements> {
  return withMachine(base, bundles, async (machine) => {
    const told = await runOk(machine, installCommand('1.0.0', '--model=none --bind=0.0.0.0'))
    const code = /Set-up code\s+(\S+)/.exec(told)?.[1]
    assert.ok(code)
    const host = (await runOk(machine, 'hostname')).trim()
    const as = (who: string) => browserOf(machine, { host, who })
    const admin = as('admin')
    await admin.ok('POST', 'setup', { code, password: ADMIN_PASSWORD })
    const key = (await runOk(machine, 'watchpost-hub service-key show')).trim()
    await admin.ok('POST', 'settings/service_key', { key })
    await writable(machine, host)
    await admin.ok('POST', 'projects/create', { slug: 'demir', name: 'Demir' })

    const seller = await join(admin, as('seller'), { host, role: 'seller', name: 'Ece Kaya' })
    const reader = await join(admin, as('reader'), { host, role: 'reader', name: 'Can Demir' })
    const data = { name: 'Ayse', email: 'ayse@demir.example' }
    const added = await seller.browser.ok('POST', 'lead/quick_add', { slug: 'demir', data })
    const lead = Lead.parse(added.lead)
    const note = { lead_id: lead.id, text: 'Called her.' }

    await reader.browser.ok('GET', `lead/get?lead_id=${lead.id}`)
    await reader.browser.refused('POST', 'lead/note', note)
    await reader.browser.refused('GET', 'settings/audit')
    await seller.browser.ok('POST', 'lead/note', note)
    await seller.browser.refused('PUT', 'settings/system', { language: 'tr' })

    await runOk(machine, upgradeCommand('1.1.0'))
    assert.equal((await health(machine, `https://${host}`, trusted(host))).version, '1.1.0')
    await reader.browser.ok('GET', `lead/get?lead_id=${lead.id}`)
    await seller.browser.ok('POST', 'lead/note', note)

    await admin.ok('POST', 'settings/members/remove', { id: seller.id })
    assert.equal((await seller.browser.call('POST', 'lead/note', note)).status, 401)
    const { audit } = Entries.parse(await admin.ok('GET', 'settings/audit'))
    const notes = audit.filter(({ action }) => action === 'addNote')
    assert.deepEqual(
      notes.map(({ actor }) => actor.name),
      ['Ece Kaya', 'Ece Kaya'],
    )
    return { members: 2 }
  })
}

type Browser = ReturnType<typeof browserOf>

/** A person's browser: HTTPS with the certificate of the machine, and cookies of their own. */
function browserOf(machine: Machine, { host, who }: { host: string; who: string }) {
  const call = async (method: string, path: string, body?: unknown) => {
    const data =
      body === undefined ? '' : `-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`
    const out = await runOk(
      machine,
      `curl -sS ${trusted(host)} -b /root/${who}.jar -c /root/${who}.jar -w '\\n%{http_code}' -X ${method} ${data} 'https://${host}/api/cockpit/${path}'`,
    )
    const end = out.lastIndexOf('\n')
    const answer: unknown = JSON.parse(out.slice(0, end) || '{}')
    return { status: Number(out.slice(end + 1)), body: z.looseObject({}).parse(answer) }
  }
  return {
    call,
    ok: async (method: string, path: string, body?: unknown) => {
      const answer = await call(method, path, body)
      assert.ok(answer.status < 300, `${who}: ${method} ${path}: ${JSON.stringify(answer)}`)
      return answer.body
    },
    refused: async (method: string, path: string, body?: unknown) => {
      const answer = await call(method, path, body)
      assert.equal(answer.status, 403, `${who}: ${method} ${path}: ${JSON.stringify(answer)}`)
    },
  }
}

const trusted = (host: string) =>
  `--cacert /etc/watchpost/tls/hub.crt --resolve ${host}:443:127.0.0.1`

/** The hub restarts with the service key; it writes from then on. */
async function writable(machine: Machine, host: string): Promise<void> {
  await waitUntil(async () => {
    const { stdout } = await machine.sh(
      `curl -sf ${trusted(host)} https://${host}/api/cockpit/health`,
    )
    return stdout.includes('hub_rw') ? true : undefined
  }, 'the hub restarts with the service key')
}

/** Invites somebody, who joins by the link. */
async function join(
  admin: Browser,
  browser: Browser,
  { host, role, name }: { host: string; role: string; name: string },
): Promise<{ id: string; browser: Browser }> {
  const email = `${role}@demir.example`
  const invited = Invited.parse(await admin.ok('POST', 'settings/members', { email, role }))
  const [page, secret] = invited.link.split('#')
  assert.equal(page, `https://${host}/hub/join`)
  await browser.ok('POST', 'invitation/accept', { secret, name, password: PASSWORD })
  const again = await browser.call('POST', 'invitation/accept', {
    secret,
    name,
    password: PASSWORD,
  })
  assert.equal(again.status, 404)
  const { me } = await browser.ok('GET', 'me')
  assert.deepEqual(z.looseObject({}).parse(me).role, role)
  return { id: invited.member.id, browser }
}
