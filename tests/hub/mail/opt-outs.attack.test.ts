import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keyFiles, readKey, writeKey } from '../../../hub/db/keys.ts'
import { createHub, type Hub } from '../../../hub/hub.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import {
  apiOf,
  LEAD,
  type MailServer,
  setBrand,
  smtpSettings,
  startMailServer,
} from '../support/mail-help.ts'
import { standForAll } from '../support/stand.ts'

let hub: TestHub
let smtp: MailServer
let api: ReturnType<typeof apiOf>
/** The same hub with only the public key, and one whose database is away. */
let reader: Hub
let alone: Hub
beforeAll(async () => {
  smtp = await startMailServer()
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  await setBrand(api)
  await api.put('settings/mail', smtpSettings(smtp.port))
  const quiet = { log: () => {}, restart: () => {} }
  alone = await createHub({ ...hub.config, database: { ...hub.config.database, port: 1 } }, quiet)
  const { key } = await readKey(hub.config)
  await writeKey(
    hub.paths,
    (await readFile(join(hub.paths.config_dir, 'public.key'), 'utf8')).trim(),
  )
  reader = await createHub(hub.config, quiet)
  await writeKey(hub.paths, key)
  expect(keyFiles(hub.paths).in_use).toBeTruthy()
})
afterAll(async () => {
  for (const one of [reader, alone, hub]) await one.close()
  await smtp.close()
})

const add = async (name: string): Promise<{ id: string; email: string }> => {
  const data = { name, email: `${name}@client.example`, ...LEAD }
  return (await api.ok('lead/quick_add', { slug: 'demir', data })).lead
}
async function draftTo(lead_id: string, steps: string[]): Promise<{ id: string; project: string }> {
  const { draft } = await api.ok('draft/create', {
    project: 'demir',
    audience: { kind: 'lead', lead_id },
    subject: 'A short question',
    text: 'Hello,\n\nwould you like to talk next week?',
  })
  const of = { id: draft.id, project: 'demir' }
  for (const step of steps) await api.ok(`draft/${step}`, of)
  return of
}
const ALL = ['render', 'approve', 'push', 'send']
/** Where the way out of the last mail leads. */
function wayOut(): string {
  const list = smtp.mails.at(-1)?.headers.get('list') as { unsubscribe?: { url: string } } // safe: mailparser's form
  return new URL(list.unsubscribe?.url ?? '').pathname
}
const click = (at: Hub, path: string) =>
  at.app.request(path, {
    method: 'POST',
    headers: { host: 'hub.demir.example', 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  })
const reasonOf = async (email: string) =>
  (await api.get(`suppression?email=${email}`)).body.suppression[0]?.reason
const sentTo = (email: string) => smtp.to().filter((to) => to === email).length

test.each([
  ['only reads', () => reader],
  ['has lost its database', () => alone],
])('an unsubscribe at a hub that %s is kept, and holds before it is applied', async (name, at) => {
  const lead = await add(name.replaceAll(' ', '-'))
  await draftTo(lead.id, ALL)
  await hub.deps.mailer.run()
  const path = wayOut()
  const approved = await draftTo(lead.id, ['render', 'approve', 'push'])
  const open = await draftTo(lead.id, ['render'])
  expect(sentTo(lead.email)).toBe(1)

  expect((await at().app.request(path, { headers: { host: 'hub.demir.example' } })).status).toBe(
    200,
  )
  expect((await click(at(), path)).status).toBe(200)
  expect((await click(at(), path)).status).toBe(200)
  expect(await reasonOf(lead.email)).toBeUndefined()
  // The gate knows it before the list does.
  await standForAll(api, open)
  const refused = await api.post('draft/approve', open)
  expect(refused).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('unsubscribed') },
  })

  await api.ok('draft/send', approved).catch(() => {})
  await hub.deps.mailer.run()
  expect(sentTo(lead.email)).toBe(1)
  expect(await reasonOf(lead.email)).toBe('unsubscribed')
  expect(await readdir(join(hub.paths.data_dir, 'unsubscribed'))).toEqual([])
  const { activities } = (await api.get(`lead/timeline?lead_id=${lead.id}`)).body
  const told = activities.filter(({ kind }: { kind: string }) => kind === 'unsubscribed')
  expect(told).toHaveLength(1)
})

test('a queue that cannot be read stops all mail', async () => {
  const lead = await add('careful')
  await draftTo(lead.id, ALL)
  const folder = join(hub.paths.data_dir, 'unsubscribed')
  await rm(folder, { recursive: true, force: true })
  await writeFile(folder, 'no folder')
  await hub.deps.mailer.run()
  expect(sentTo(lead.email)).toBe(0)
  await rm(folder)
  await mkdir(folder)
  await hub.deps.mailer.run()
  expect(sentTo(lead.email)).toBe(1)
})

test('an unsubscribe counts in a project that the license lets only be read', async () => {
  const lead = await add('surplus')
  await draftTo(lead.id, ALL)
  await hub.deps.mailer.run()
  // An older project takes the one place of Free.
  await hub.query(
    `insert into hub.projects (slug, name, created_at) values ('older', 'Older', now() - interval '1 day')`,
  )
  expect(await api.post('lead/quick_add', { slug: 'demir', data: { name: 'x' } })).toMatchObject({
    status: 402,
  })
  expect((await click(hub, wayOut())).status).toBe(200)
  expect(await reasonOf(lead.email)).toBe('unsubscribed')
})
