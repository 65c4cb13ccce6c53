import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everywhere } from '../../../../hub/db/db.ts'
import {
  Audience,
  countSkips,
  type Person,
  peopleOf,
  personalOf,
  type Skip,
} from '../../../../hub/mail/drafts/audience.ts'
import { readRefusals } from '../../../../hub/mail/opt-outs.ts'
import { startHub, type TestHub } from '../../support/hub.ts'

let hub: TestHub
let project_id = ''
beforeAll(async () => {
  hub = await startHub()
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir' })
  const [project] = await hub.query<{ id: string }>('select id from hub.projects')
  project_id = project?.id ?? ''
})
afterAll(() => hub.close())

type Lead = Partial<Record<'email' | 'name' | 'company' | 'country' | 'stage', string | null>> & {
  tags?: string[]
  source?: string | null
  lawful_basis?: string | null
}
async function add(lead: Lead): Promise<string> {
  const [row] = await hub.query<{ id: string }>(
    `insert into hub.leads (project_id, email, name, company, country, stage, tags, source, lawful_basis)
     values ($1, $2, $3, $4, $5, coalesce($6, 'new'), $7, $8, $9) returning id`,
    [
      project_id,
      lead.email ?? null,
      lead.name ?? null,
      lead.company ?? null,
      lead.country ?? null,
      lead.stage ?? null,
      lead.tags ?? [],
      lead.source === undefined ? 'fair.csv' : lead.source,
      lead.lawful_basis === undefined ? 'legitimate_interest' : lead.lawful_basis,
    ],
  )
  return row?.id ?? ''
}
const find = async (audience: Audience, template = 'letter') => {
  const refusals = await readRefusals(hub.paths)
  return everywhere(hub.deps.db, (sql) =>
    peopleOf(sql, { project_id, audience, template, refusals }),
  )
}
const emails = async (filter: Extract<Audience, { kind: 'list' }>['filter']) =>
  (await find({ kind: 'list', filter })).people.map(({ email }) => email)
const skips = async (tag: string, template?: string) => {
  const { people } = await find({ kind: 'list', filter: { tag } }, template)
  return Object.fromEntries(people.map(({ email, skip }) => [email.split('@')[0], skip]))
}

describe('an audience', () => {
  test('is who matches every condition of its filter, by address', async () => {
    const country = 'Türkiye'
    const a = await add({ email: 'A@f.example', name: 'Ayşe', tags: ['x', 'y'], country })
    const b = await add({ email: 'b@f.example', company: 'Ayşegül AŞ', tags: ['y'], stage: 'won' })
    await add({ email: 'c@f.example', name: 'Can', tags: ['x'], country: 'Italy', stage: 'won' })
    const all = ['a@f.example', 'b@f.example', 'c@f.example']
    expect(await emails({})).toEqual(all)
    expect(await emails({ tag: 'x' })).toEqual([all[0], all[2]])
    expect(await emails({ stage: 'won' })).toEqual([all[1], all[2]])
    expect(await emails({ tag: 'x', stage: 'won' })).toEqual([all[2]])
    expect(await emails({ country: 'TURKIYE' })).toEqual([all[0]])
    expect(await emails({ q: 'ayse' })).toEqual([all[0], all[1]])
    expect(await emails({ q: 'B@F' })).toEqual([all[1]])
    expect(await emails({ q: 'nobody' })).toEqual([])
    expect(await emails({ lead_ids: [b, a] })).toEqual([all[0], all[1]])
    expect(await emails({ lead_ids: [b], tag: 'x' })).toEqual([])
    const one = await find({ kind: 'lead', lead_id: a })
    expect(one.people).toMatchObject([
      { lead_id: a, email: 'a@f.example', name: 'Ayşe', company: null, skip: null },
    ])
    await hub.query('delete from hub.leads')
  })

  test('is of its project alone, and who has no address is counted', async () => {
    await hub.query(
      `with other as (insert into hub.projects (slug, name) values ('other', 'Other') returning id)
       insert into hub.leads (project_id, email) select id, 'x@other.example' from other`,
    )
    await add({ email: 'one@p.example' })
    for (const name of ['Two', 'Three']) await add({ name })
    const found = await find({ kind: 'list', filter: {} })
    expect(found.people.map(({ email }) => email)).toEqual(['one@p.example'])
    expect(found.without_email).toBe(2)
    await hub.query("delete from hub.projects where slug = 'other'")
    await hub.query('delete from hub.leads')
  })
})

describe('somebody is left out', () => {
  test('without a lawful basis or a source, at a shared address, or a bad one', async () => {
    const tags = ['rules']
    await add({ tags, email: 'good@r.example' })
    await add({ tags, email: 'basis@r.example', lawful_basis: null })
    await add({ tags, email: 'source@r.example', source: null })
    await add({ tags, email: 'neither@r.example', lawful_basis: null, source: null })
    await add({ tags, email: 'info@r.example' })
    await add({ tags, email: 'bad@r' })
    expect(await skips('rules')).toEqual({
      good: null,
      basis: 'no_lawful_basis',
      source: 'no_source',
      neither: 'no_lawful_basis',
      info: 'role_address',
      bad: 'invalid_email',
    })
  })

  test('of a follow-up when they have replied to any mail, and of no other', async () => {
    const tags = ['replies']
    const yes = await add({ tags, email: 'yes@r.example' })
    const no = await add({ tags, email: 'no@r.example' })
    await hub.query(
      `with earlier as (
         insert into hub.drafts (project_id, audience) values ($1, '{}') returning id
       )
       insert into hub.recipients (draft_id, project_id, lead_id, email, replied_at)
       select earlier.id, $1, lead_id, lead_id::text, replied_at
       from earlier, (values ($2::uuid, now()), ($3::uuid, null)) as given (lead_id, replied_at)`,
      [project_id, yes, no],
    )
    expect(await skips('replies', 'follow_up')).toEqual({ yes: 'replied', no: null })
    expect(await skips('replies', 'letter')).toEqual({ yes: null, no: null })
  })

  test('who unsubscribed, whatever else is the matter with them', async () => {
    const tags = ['gone']
    await add({ tags, email: 'Gone@s.example', lawful_basis: null })
    await add({ tags, email: 'here@s.example' })
    const added = await hub.call('POST', 'suppression/add', { emails: ['gone@s.example'] })
    expect(added.status).toBeLessThan(300)
    expect(await skips('gone')).toEqual({ gone: 'suppressed', here: null })
  })
})

test('reasons are counted, the most frequent first and equals by name', () => {
  const people = (...given: (Skip | null)[]) => given.map((skip) => ({ skip }) as Person) // safe: it reads no more
  const counted = (...given: (Skip | null)[]) =>
    countSkips(people(...given)).map(({ reason, count }) => `${count} ${reason}`)
  expect(counted()).toEqual([])
  expect(counted(null, null)).toEqual([])
  expect(counted('suppressed', 'no_source', null, 'no_source')).toEqual([
    '2 no_source',
    '1 suppressed',
  ])
  expect(counted('suppressed', 'replied', 'no_source')).toEqual([
    '1 no_source',
    '1 replied',
    '1 suppressed',
  ])
  expect(counted('no_source', 'replied', 'suppressed')).toEqual([
    '1 no_source',
    '1 replied',
    '1 suppressed',
  ])
  const [first] = countSkips(people('no_source'))
  expect(first?.words).toEqual({ en: expect.any(String), tr: expect.any(String) })
})

test.each([
  ['Ayşe Demir', 'Ayşe'],
  ['  Ayşe   Demir ', 'Ayşe'],
  ['Dr. Ayşe Demir', 'Ayşe'],
  ['Prof. Dr. Ayşe', 'Ayşe'],
  ['Dr.', ''],
  ['', ''],
  [null, ''],
])('%j is addressed as %j', (name, first_name) => {
  expect(personalOf({ name, company: 'Demir' })).toEqual({ first_name, name, company: 'Demir' })
})

const id = '0193b1a0-0000-7000-8000-000000000001'
test.each<[audience: unknown, wrong: string[] | null]>([
  [{ kind: 'lead', lead_id: id }, null],
  [{ kind: 'lead', lead_id: 'x' }, ['lead_id']],
  [{ kind: 'lead', lead_id: id, filter: {} }, ['']],
  [{ kind: 'list', filter: {} }, null],
  [{ kind: 'list' }, ['filter']],
  [{ kind: 'other', filter: {} }, ['kind']],
  [{ kind: 'list', filter: { tag: 'x'.repeat(60), country: 'x'.repeat(100) } }, null],
  [{ kind: 'list', filter: { tag: 'x'.repeat(61) } }, ['filter.tag']],
  [{ kind: 'list', filter: { country: 'x'.repeat(101) } }, ['filter.country']],
  [{ kind: 'list', filter: { q: 'x'.repeat(200) } }, null],
  [{ kind: 'list', filter: { q: 'x'.repeat(201) } }, ['filter.q']],
  [
    { kind: 'list', filter: { tag: ' ', country: ' ', q: ' ' } },
    ['filter.tag', 'filter.country', 'filter.q'],
  ],
  [{ kind: 'list', filter: { lead_ids: [] } }, ['filter.lead_ids']],
  [{ kind: 'list', filter: { lead_ids: [id, id] } }, null],
  [{ kind: 'list', filter: { lead_ids: ['x'] } }, ['filter.lead_ids.0']],
  [{ kind: 'list', filter: { lead_ids: Array(5001).fill(id) } }, ['filter.lead_ids']],
  [{ kind: 'list', filter: { nothing: true } }, ['filter']],
])('an audience is taken, or refused at what is wrong with it (%#)', (audience, wrong) => {
  const { error } = Audience.safeParse(audience)
  expect(error?.issues.map(({ path }) => path.join('.')) ?? null).toEqual(wrong)
})

test('what a filter looks for has no space around it', () => {
  const filter = { tag: ' vip ', country: ' Türkiye ', q: ' Ada ' }
  expect(Audience.parse({ kind: 'list', filter })).toEqual({
    kind: 'list',
    filter: { tag: 'vip', country: 'Türkiye', q: 'Ada' },
  })
})
