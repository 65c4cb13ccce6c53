import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everywhere } from '../../../hub/db/db.ts'
import { emailHash, readSalt, suppress } from '../../../hub/mail/suppression.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { leadCalls } from '../support/lead-calls.ts'

let hub: TestHub
let project_id: string
const { get, post, add } = leadCalls(() => hub)
beforeAll(async () => {
  hub = await startHub()
  await post('projects/create', { slug: 'demir', name: 'Demir' })
  const [project] = await hub.query<{ id: string }>('select id from hub.projects')
  project_id = project?.id ?? ''
})
afterAll(() => hub.close())

const merge = (kept: { id: string }, gone: { id: string }, choices = {}) =>
  post('lead/merge', { kept_id: kept.id, gone_id: gone.id, choices })
const lead = async ({ id }: { id: string }) => (await get(`lead/get?lead_id=${id}`)).body.lead

/** A draft with a state and its recipients, as the mail flow leaves it. */
async function draft(
  state: string,
  audience: object,
  people: { lead_id: string; email: string; state: string; opt_out?: string; replied?: boolean }[],
) {
  const [made] = await hub.query<{ id: string }>(
    `insert into hub.drafts (project_id, audience, subject, text, html, state)
     values ($1, $2, 'Hello', 'Text', '<p>', $3) returning id`,
    [project_id, audience, state],
  )
  for (const one of people) {
    await hub.query(
      `insert into hub.recipients (draft_id, project_id, lead_id, email, state, opt_out, replied_at)
       values ($1, $2, $3, $4, $5, $6, case when $7 then now() end)`,
      [made?.id, project_id, one.lead_id, one.email, one.state, one.opt_out, one.replied ?? false],
    )
  }
  return made?.id ?? ''
}

test('moves the rows of every table that refers to a lead', async () => {
  const kept = await add({ name: 'Ayşe', company: 'Işık', tags: ['a'], email: 'ayse@isik.example' })
  const gone = await add({
    name: 'Ayşe Işık',
    phone: '+90 212 555 01 01',
    email: 'a.isik@isik.example',
    tags: ['b'],
    lawful_basis: 'consent',
    basis_source: 'fair form',
  })
  await post('lead/note', { lead_id: gone.id, text: 'Likes tea' })
  await post('lead/task', { lead_id: gone.id, title: 'Call' })
  await hub.query(
    `insert into hub.evidence (project_id, lead_id, fact, source, import_column)
     values ($1, $2, 'City: Ankara', 'a.csv:2', 'City'), ($1, $3, 'City: Bursa', 'b.csv:2', 'City'),
       ($1, $3, 'Size: 9', 'b.csv:2', 'Size')`,
    [project_id, kept.id, gone.id],
  )
  const mail = await draft('rendered', { kind: 'lead', lead_id: gone.id }, [])
  const list = await draft('sent', { kind: 'list', filter: { lead_ids: [gone.id, kept.id] } }, [
    {
      lead_id: gone.id,
      email: 'a.isik@isik.example',
      state: 'sent',
      opt_out: 'open',
      replied: true,
    },
  ])
  const columns = await hub.query<{ table: string; column: string }>(
    `select c.conrelid::regclass::text as table, a.attname as column
     from pg_catalog.pg_constraint as c
     join pg_catalog.pg_attribute as a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     where c.contype = 'f' and c.confrelid = 'hub.leads'::regclass`,
  )
  expect(columns.length).toBeGreaterThan(5)
  const done = await merge(kept, gone, { name: 'gone' })
  expect(done.status).toBe(200)
  expect(done.body.merge).toMatchObject({
    moved: { notes: 1, tasks: 1, recipients: 1, evidence: 1 },
    dropped: 1,
  })
  for (const { table, column } of columns) {
    const left = await hub.query(`select from ${table} where ${column} = $1`, [gone.id])
    expect(left, table).toEqual([])
  }
  expect(await lead(kept)).toMatchObject({
    name: 'Ayşe Işık',
    email: 'ayse@isik.example',
    company: 'Işık',
    phone: '+90 212 555 01 01',
    tags: ['a', 'b'],
    lawful_basis: 'consent',
    basis_source: 'fair form',
    may_refuse: true,
    notes: [{ text: 'Likes tea' }],
  })
  expect((await get(`lead/get?lead_id=${gone.id}`)).status).toBe(404)
  const drafts = await hub.query('select id, state, html, audience from hub.drafts order by state')
  expect(drafts).toEqual([
    { id: mail, state: 'draft', html: null, audience: { kind: 'lead', lead_id: kept.id } },
    {
      id: list,
      state: 'sent',
      html: '<p>',
      audience: { kind: 'list', filter: { lead_ids: [kept.id] } },
    },
  ])
  const { merges } = (await get('leads/merges?project=demir')).body
  expect(merges).toMatchObject([
    {
      lead_id: kept.id,
      gone: { email: 'a.isik@isik.example', lawful_basis: 'consent' },
      kept: { name: 'Ayşe' },
      dropped: [{ table: 'evidence', row: { fact: 'City: Bursa' } }],
    },
  ])
})

describe('a merge never', () => {
  test('loses a lawful basis, even when the empty one is chosen', async () => {
    const kept = await add({ name: 'Basis', lawful_basis: 'contract', basis_note: 'Order 7' })
    const gone = await add({ name: 'Basis' })
    await merge(kept, gone, { lawful_basis: 'gone' })
    expect(await lead(kept)).toMatchObject({ lawful_basis: 'contract', basis_note: 'Order 7' })
  })

  test.each([
    ['unsubscribed', 'unsubscribed'],
    ['imported', 'imported'],
    ['manual', 'manual'],
    ['complained', 'complained'],
    ['erased', 'unsubscribed'],
    ['bounced', null],
  ] as const)('loses an opt-out: after %s the other address is %s', async (reason, after) => {
    const salt = await readSalt(hub.paths)
    const refused = `old-${reason}@opt.example`
    const email = `new-${reason}@opt.example`
    await everywhere(hub.deps.db, (sql) => suppress(sql, salt, { emails: [refused], reason }))
    const kept = await add({ name: 'Opt', email })
    expect((await merge(kept, await add({ name: 'Opt', email: refused }))).status).toBe(200)
    const [entry] = await hub.query<{ reason: string }>(
      'select reason from hub.suppression where email_hash = $1',
      [emailHash(salt, email)],
    )
    expect(entry?.reason ?? null).toBe(after)
  })

  test.each(['approved', 'pushed', 'sending', 'unclear'])(
    'mails somebody twice: both in a campaign that is %s stay two',
    async (state) => {
      const kept = await add({ name: 'Twice', email: `one-${state}@twice.example` })
      const gone = await add({ name: 'Twice', email: `two-${state}@twice.example` })
      const people = [kept, gone].map(({ id, email }) => ({
        lead_id: id,
        email: email ?? '',
        state: 'waiting',
      }))
      await draft(state, { kind: 'list', filter: {} }, people)
      const refused = await merge(kept, gone)
      expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('Hello')])
      expect((await get(`lead/get?lead_id=${gone.id}`)).status).toBe(200)
    },
  )

  test('takes leads of two projects, or one with itself', async () => {
    await hub.query("insert into hub.projects (slug, name) values ('other', 'Other')")
    await hub.query(
      "insert into hub.leads (project_id, name) select id, 'Far' from hub.projects where slug = 'other'",
    )
    const [far] = await hub.query<{ id: string }>("select id from hub.leads where name = 'Far'")
    const near = await add({ name: 'Near' })
    expect((await merge(near, far ?? near)).status).toBe(404)
    expect((await merge(near, near)).status).toBe(409)
  })
})
