import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BASE } from '../../../hub/app.ts'
import { actionText } from '../../../hub/audit/actions.text.ts'
import { urlFor } from '../../../hub/db/keys.ts'
import { readText } from '../../../hub/files.ts'
import { operationOf } from '../../../hub/http/acts.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { joinAs, keyWith } from '../support/members.ts'
import { makeProject } from '../support/mission-help.ts'

type Entry = {
  action: string
  by: string
  what: string
  actor: { kind: string; id: string | null }
  project: string | null
  target: string | null
  fields: string[]
  outcome: string
  count: number
}
let hub: TestHub
let seller: { id: string; cookie: string }
beforeAll(async () => {
  hub = await startHub()
  await makeProject(hub)
  seller = await joinAs(hub, 'seller', 'Ece Seller')
})
afterAll(() => hub.close())

const entries = async (filter: Record<string, string> = {}): Promise<Entry[]> => {
  const answer = await hub.call('GET', `settings/audit?${new URLSearchParams(filter)}`)
  expect(answer.status).toBe(200)
  return (await answer.json()).audit
}
const asSeller = (method: string, path: string, body?: object) =>
  hub.app.request(`${BASE}/${path}`, {
    method,
    headers: { host: 'localhost', cookie: seller.cookie, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })

test('an act says who did it, to what, in which project, and no content', async () => {
  const data = { name: 'Very Secret Name', email: 'secret@lead.example' }
  const made = await asSeller('POST', 'lead/quick_add', { slug: 'rota', data })
  expect(made.status).toBe(201)
  const { id } = (await made.json()).lead
  await asSeller('POST', 'lead/note', { lead_id: id, text: 'Very secret note' })
  const [note, add] = await entries({ who: seller.id })
  expect(add).toMatchObject({
    action: 'quickAddLead',
    by: 'Ece Seller',
    what: 'Created a lead',
    actor: { kind: 'member', id: seller.id },
    project: 'rota',
    fields: ['data'],
    outcome: 'done',
  })
  expect(note).toMatchObject({ action: 'addNote', target: id, project: 'rota', fields: ['text'] })
  expect(JSON.stringify([note, add])).not.toMatch(/secret/i)
  // The log says who as well: a member by its id, and the owner's token by its kind.
  const logged = () => hub.lines.findLast(({ msg }) => msg === 'request')?.actor
  expect(logged()).toBe('api')
  await asSeller('POST', 'lead/note', { lead_id: id, text: 'Another note' })
  expect(logged()).toBe(seller.id)
  const timeline = await hub.call('GET', `lead/timeline?lead_id=${id}`)
  const { activities } = await timeline.json()
  expect(activities.map(({ by }: { by: string }) => by)).toEqual(Array(3).fill('Ece Seller'))
})

test('a key is named, and the token of the machine is the API', async () => {
  const key = await keyWith(hub, 'write', 'Import script')
  const authorization = `Bearer ${key}`
  await hub.call(
    'POST',
    'lead/quick_add',
    { slug: 'rota', data: { name: 'One' } },
    { authorization },
  )
  await hub.call('POST', 'lead/quick_add', { slug: 'rota', data: { name: 'Two' } })
  const [two, one] = await entries({ action: 'quickAddLead' })
  expect([one?.by, two?.by]).toEqual(['Import script', 'API'])
  expect((await entries({ who: 'api' })).every(({ actor }) => actor.id === null)).toBe(true)
})

test('what takes data out of the hub is an act, with its project and where it was asked from', async () => {
  await asSeller('GET', 'leads/list?project=rota')
  expect((await asSeller('GET', 'leads/export?project=rota')).status).toBe(200)
  expect((await asSeller('GET', 'leads/export?project=nobody')).status).toBe(404)
  const [entry] = await entries({ who: seller.id })
  expect(entry).toMatchObject({
    ...{ action: 'exportLeads', area: 'Leads', project: 'rota' },
    ...{ target: null, fields: [], outcome: 'done', address: 'unknown' },
  })
  expect(await entries({ action: 'exportLeads' })).toHaveLength(1)
  expect(await entries({ action: 'listLeads' })).toEqual([])
})

test('a backup and a document that somebody takes away are acts: which one, and of which project', async () => {
  const made = await hub.call('POST', 'backup/run')
  expect(made.status).toBe(202)
  const finished = async () => (await (await hub.call('GET', 'backups')).json()).job
  await expect.poll(async () => (await finished()).status, { timeout: 30_000 }).toBe('done')
  const { name } = await finished()
  const folder = join(hub.paths.data_dir, 'projects/rota/docs')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'offer.md'), 'An offer.')
  for (const path of [
    `backup/download?name=${name}`,
    'documents/download?project=rota&path=docs/offer.md',
  ]) {
    const answer = await hub.call('GET', path)
    expect([path, answer.status]).toEqual([path, 200])
    await answer.arrayBuffer()
  }
  expect(await entries({ action: 'downloadBackup' })).toMatchObject([{ target: name }])
  expect(await entries({ action: 'downloadDocument' })).toMatchObject([{ project: 'rota' }])
})

test('an act that fails is not in it, and leaves nothing else either', async () => {
  const before = (await entries()).length
  const data = { name: 'Again', email: 'again@lead.example' }
  expect((await asSeller('POST', 'lead/quick_add', { slug: 'rota', data })).status).toBe(201)
  expect((await asSeller('POST', 'lead/quick_add', { slug: 'rota', data })).status).toBe(409)
  expect((await asSeller('POST', 'lead/quick_add', { slug: 'rota', data: {} })).status).toBe(422)
  expect((await entries()).length).toBe(before + 1)
})

test('a changed setting is named, and its value is nowhere', async () => {
  const now = await (await hub.call('GET', 'settings/mail')).json()
  const smtp = { host: 'smtp.secret.example', port: 587, user: 'u', password: 'VerySecret1' }
  const changed = await hub.call('PUT', 'settings/mail', { ...now.mail, smtp })
  const answer = changed.status === 200 ? '' : await changed.text()
  expect(answer).toBe('')
  const [entry] = await entries({ action: 'putMailSettings' })
  expect(entry?.fields).toEqual(expect.arrayContaining(['mail.smtp.password', 'mail.smtp.host']))
  const rows = await hub.query('select * from hub.audit')
  expect(JSON.stringify(rows)).not.toMatch(/VerySecret1|smtp\.secret/)
})

test('refused sign-ins and roles are counted', async () => {
  const login = { email: 'nobody@hub.example', password: 'wrong wrong wrong' }
  for (let nth = 0; nth < 2; nth += 1) await hub.call('POST', 'login', login)
  for (let nth = 0; nth < 3; nth += 1) await asSeller('GET', 'settings/models')
  const refused = await entries({ outcome: 'refused' })
  expect(refused).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ action: 'login', by: 'Unknown', count: 2 }),
      expect.objectContaining({ action: 'role', by: 'Ece Seller', count: 3 }),
    ]),
  )
  expect(JSON.stringify(refused)).not.toContain('nobody@hub.example')
})

test('PostgreSQL lets nobody change or delete an entry, and a seller read none', async () => {
  const key = (await readText(join(hub.paths.config_dir, 'service.key')))?.trim() ?? ''
  const client = new pg.Client({ connectionString: urlFor(key, hub.config.database) })
  await client.connect()
  try {
    await client.query("select set_config('hub.project', '*', false)")
    for (const change of [
      "update hub.audit set action = 'x'",
      'delete from hub.audit',
      'truncate hub.audit',
    ]) {
      await expect(client.query(change)).rejects.toMatchObject({ code: '42501' })
    }
    expect((await client.query('select from hub.audit')).rowCount).toBeGreaterThan(3)
    await client.query("select set_config('hub.actor', $1, false)", [
      JSON.stringify({ kind: 'member', id: null, name: 'x', role: 'seller' }),
    ])
    expect((await client.query('select from hub.audit')).rowCount).toBe(0)
  } finally {
    await client.end()
  }
})

test('is exported as CSV and JSON with its filters, which is an act itself', async () => {
  const csv = await hub.call('GET', `settings/audit/export?who=${seller.id}`)
  const lines = (await csv.text()).trim().split('\r\n')
  expect(lines[0]).toContain('"at","by","actor_kind"')
  expect(lines.length).toBe(1 + (await entries({ who: seller.id })).length)
  const json = await hub.call('GET', 'settings/audit/export?format=json&outcome=refused')
  const rows = (await json.text()).trim().split('\n')
  expect(rows.every((line) => JSON.parse(line).outcome === 'refused')).toBe(true)
  expect((await entries({ action: 'exportAudit' })).length).toBe(2)
})

test('every act of the API has its sentence', async () => {
  const { paths } = await (await hub.call('GET', 'spec')).json()
  const code = await readFile(join(import.meta.dirname, '../../../hub/http/acts.ts'), 'utf8')
  const looks = new RegExp(/const LOOKS =\s*\/(.+)\/\n/.exec(code)?.[1] ?? '')
  const silent = Object.entries<Record<string, { operationId: string; security?: unknown[] }>>(
    paths,
  )
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        ...operation,
        method,
        path: path.slice(BASE.length + 1).replaceAll(/\{\w+\}/g, 'x'),
      })),
    )
    .filter(
      ({ method, security, path }) =>
        method !== 'get' && security?.length !== 0 && !looks.test(path),
    )
    .map(({ operationId }) => operationId)
    .filter((name) => !(name in actionText.en))
  expect(silent).toEqual([])
})

test('a member who left can be exported and erased, and what they did stays', async () => {
  const person = { email: 'ece.seller@hub.example' }
  const refused = await hub.call('POST', 'people/erase', { ...person, confirm: person.email })
  expect(refused.status).toBeGreaterThanOrEqual(400)
  await hub.call('POST', 'settings/members/remove', { id: seller.id })
  const exported = await (await hub.call('POST', 'people/export', person)).text()
  expect(exported).toContain('Ece Seller')
  expect(exported).not.toContain('password_hash')
  const { forgetMember } = await import('../../../hub/people/member.ts')
  const count = await hub.deps.db.transaction('*', (_, client) =>
    forgetMember(client, person.email),
  )
  expect(count).toBe(1)
  const tables = ['members', 'audit', 'activities']
  for (const table of tables) {
    const rows = await hub.query(`select * from hub.${table}`)
    expect(JSON.stringify(rows), table).not.toMatch(/Ece Seller|ece\.seller/)
  }
  const [act] = await entries({ who: seller.id, action: 'addNote' })
  expect(act?.by).toBe('A former member')
  const others = await entries({ action: 'quickAddLead' })
  expect(others.map(({ by }) => by)).toContain('Import script')
})

test('each operation of the interface is known by the name that its document gives it', async () => {
  const { paths } = await (await hub.call('GET', 'spec')).json()
  const described = Object.entries<Record<string, { operationId?: string; tags?: string[] }>>(
    paths,
  ).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { operationId, tags }]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, 'something'),
      name: operationId,
      area: tags?.[0],
    })),
  )
  expect(described.length).toBeGreaterThan(100)
  for (const { method, path, name, area } of described) {
    const at = path.startsWith(BASE) ? path : `${BASE}${path}`
    expect(operationOf(hub.app, method, at), `${method} ${at}`).toMatchObject({ name, area })
  }
})
