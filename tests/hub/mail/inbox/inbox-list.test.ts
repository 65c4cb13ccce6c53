import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../../support/hub.ts'
import { leadCalls } from '../../support/lead-calls.ts'

let hub: TestHub
const { get, post, add } = leadCalls(() => hub)
const projects: Record<string, string> = {}
let lead = { id: '' }
beforeAll(async () => {
  hub = await startHub()
  for (const slug of ['demir', 'other']) {
    const [row] = await hub.query<{ id: string }>(
      'insert into hub.projects (slug, name) values ($1, $1) returning id',
      [slug],
    )
    projects[slug] = row?.id ?? ''
  }
  lead = await add({ name: 'Jo', company: 'Client', email: 'jo@client.example' })
})
afterAll(() => hub.close())
beforeEach(() => hub.query('truncate hub.inbox_mails, hub.drafts cascade'))

const insert = async (table: string, row: Record<string, unknown>): Promise<string> => {
  const names = Object.keys(row)
  const places = names.map((_, nth) => `$${nth + 1}`)
  const [made] = await hub.query<{ id: string }>(
    `insert into hub.${table} (${names.join(', ')}) values (${places.join(', ')}) returning *`,
    Object.values(row),
  )
  return made?.id ?? ''
}
/** A mail that came in; its subject is its name. */
const came = (subject: string, { project = 'demir', ...more }: Record<string, unknown> = {}) =>
  insert('inbox_mails', {
    project_id: projects[String(project)],
    our_email: 'jo@client.example',
    kind: 'reply',
    matched_by: 'message_id',
    subject,
    ...more,
  })
/** A mail of ours to somebody, as it stands. */
async function wrote(
  subject: string,
  { project = 'demir', asked = null, ...more }: Record<string, unknown> = {},
) {
  const project_id = projects[String(project)]
  const audience = '{"kind": "list"}'
  const draft_id = await insert('drafts', { project_id, audience, subject, text: 'Hello {name}' })
  const email = 'jo@client.example'
  await insert('recipients', { draft_id, project_id, email, opt_out: asked, ...more })
  return draft_id
}
type Listed = { subject: string }
const list = async (query: string) => (await get(`inbox/list?${query}`)).body
const subjects = async (query: string) =>
  (await list(query)).mails.map(({ subject }: Listed) => subject)

describe('the list', () => {
  const at = (minute: number) => `2026-11-21T10:0${minute}:00Z`
  beforeEach(async () => {
    const draft_id = await wrote('Ours', { asked: 'open' })
    const decided = await wrote('Ours too', { asked: 'denied' })
    await came('reply', { received_at: at(6), seen_at: at(7) })
    await came('asks', { received_at: at(5), draft_id, opt_out: 'open', lead_id: lead.id })
    await came('was decided', { received_at: at(4), draft_id: decided, opt_out: 'open' })
    await came('away', { kind: 'out_of_office', received_at: at(3) })
    await came('bounce', { kind: 'bounce', received_at: at(2), project: 'other' })
    await came('unrelated', { kind: 'unrelated', received_at: at(1) })
    await came('done', { received_at: at(0), handled_at: at(1) })
  })

  test.each([
    ['', ['reply', 'asks', 'was decided']],
    ['show=opt_outs', ['asks']],
    ['show=out_of_office', ['away']],
    ['show=bounces', ['bounce']],
    ['show=unrelated', ['unrelated']],
    ['show=all', ['reply', 'asks', 'was decided', 'away', 'bounce', 'unrelated']],
    ['state=handled', ['done']],
    ['show=bounces&state=handled', []],
    ['state=all', ['reply', 'asks', 'was decided', 'done']],
    ['show=all&project=other', ['bounce']],
    ['show=all&project=demir&state=handled', ['done']],
  ])('with "%s" has what that names, the newest first', async (query, names) => {
    expect(await subjects(query)).toEqual(names)
  })

  test('of a lead has its own mail alone', async () => {
    expect(await subjects(`show=all&state=all&lead_id=${lead.id}`)).toEqual(['asks'])
    expect(await subjects(`show=all&state=all&lead_id=${randomUUID()}`)).toEqual([])
  })

  test('counts what is not handled, of the project alone', async () => {
    const counts = { replies: 3, opt_outs: 1, out_of_office: 1, unrelated: 1 }
    expect((await list('state=handled')).counts).toEqual({
      ...counts,
      bounces: 1,
      all: 6,
      unseen: 5,
    })
    expect((await list('project=demir')).counts).toEqual({
      ...counts,
      bounces: 0,
      all: 5,
      unseen: 4,
    })
  })

  test('comes in pages without a gap, also between two of the same moment', async () => {
    await hub.query(`update hub.inbox_mails set received_at = '2026-11-21Z'`)
    const all = await subjects('show=all&state=all')
    expect(new Set(all).size).toBe(7)
    const found: string[] = []
    for (let cursor = ''; ; ) {
      const page = await list(`show=all&state=all&limit=3${cursor}`)
      found.push(...page.mails.map(({ subject }: Listed) => subject))
      if (page.next_cursor === null) break
      expect(page.mails).toHaveLength(3)
      cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
    }
    expect(found).toEqual(all)
  })

  test('has 1 to 100 mails a page, of a project that exists', async () => {
    const statusOf = async (query: string) => (await get(`inbox/list?${query}`)).status
    const statuses = ['limit=1', 'limit=100', 'limit=0', 'limit=101', 'project=none'].map(statusOf)
    expect(await Promise.all(statuses)).toEqual([200, 200, 400, 400, 404])
  })
})

test('the list has the first 300 characters of a text, the mail itself all of them', async () => {
  const text = 'x'.repeat(301)
  const id = await came('long', { text })
  await came('cut in a pair', { text: `${'x'.repeat(299)}😀` })
  await came('none')
  const texts = (await list('')).mails.map((mail: { text: string | null }) => mail.text)
  expect(texts).toEqual([null, `${'x'.repeat(299)}\ufffd`, 'x'.repeat(300)])
  expect((await get(`inbox/get?id=${id}`)).body.mail.text).toBe(text)
})

test('a mail names its lead, and what is known of it', async () => {
  const id = await came('asks', { lead_id: lead.id, away_until: '2026-12-24' })
  const { mail } = (await get(`inbox/get?id=${id}`)).body
  expect(mail).toMatchObject({
    project: 'demir',
    lead: { id: lead.id, name: 'Jo', company: 'Client', email: 'jo@client.example' },
    opt_out: null,
    away_until: '2026-12-24',
    answered: false,
  })
  const nobody = await came('nobody')
  expect((await get(`inbox/get?id=${nobody}`)).body.mail.lead).toBeNull()
  expect((await get(`inbox/get?id=${randomUUID()}`)).status).toBe(404)
})

test.each<[object, boolean]>([
  [{ from_email: 'al@client.example' }, true],
  [{ from_email: 'jo@client.example' }, false],
  [{}, false],
  [{ from_email: 'al@client.example', whose_at: '2026-11-21Z' }, false],
  [{ from_email: 'al@client.example', kind: 'bounce' }, false],
])('a mail with %j asks whose it is: %s', async (given, asks_whose) => {
  const id = await came('whose', { ...given })
  expect((await get(`inbox/get?id=${id}`)).body.mail).toMatchObject({ asks_whose })
})

test.each([
  ['open', 'open', 'open'],
  ['open', 'asked', 'asked'],
  ['open', 'denied', 'denied'],
  ['open', null, 'denied'],
  ['asked', 'denied', 'asked'],
  [null, 'open', null],
])('of a mail that says "%s" and a decision "%s" the opt-out is "%s"', async (said, asked, is) => {
  const draft_id = await wrote('Ours', { asked })
  const id = await came('asks', { draft_id, opt_out: said })
  expect((await get(`inbox/get?id=${id}`)).body.mail.opt_out).toBe(is)
  // Of another address that the same mail went to, nothing was decided.
  const elsewhere = await came('elsewhere', { draft_id, opt_out: said, our_email: 'al@x.example' })
  const { opt_out } = (await get(`inbox/get?id=${elsewhere}`)).body.mail
  expect(opt_out).toBe(said === 'open' ? 'denied' : said)
})

describe('the marks of a mail', () => {
  const mark = async (id: string, marks: object) => {
    const { body } = await post('inbox/mark', { id, ...marks })
    const { seen_at, handled_at } = body.mail
    return [seen_at, handled_at]
  }

  test('are set, stay with their first time, and are taken back one by one', async () => {
    const id = await came('mine')
    const other = await came('other')
    const [seen, none] = await mark(id, { seen: true })
    expect([typeof seen, none]).toEqual(['string', null])
    const [, handled] = await mark(id, { handled: true })
    expect(typeof handled).toBe('string')
    expect(await mark(id, { seen: true, handled: true })).toEqual([seen, handled])
    expect(await mark(id, {})).toEqual([seen, handled])
    expect(await mark(id, { seen: false })).toEqual([null, handled])
    expect(await mark(id, { handled: false })).toEqual([null, null])
    expect(await mark(other, {})).toEqual([null, null])
  })

  test('are of a mail that exists', async () => {
    expect((await post('inbox/mark', { id: randomUUID(), seen: true })).status).toBe(404)
    expect((await post('inbox/mark', { id: 'x' })).status).toBe(422)
  })
})

describe('the conversation', () => {
  type InThread = { from: string; kind: string; subject: string; at: string }
  const threadOf = async (id: string): Promise<InThread[]> =>
    (await get(`inbox/get?id=${id}`)).body.thread
  const names = async (id: string) => (await threadOf(id)).map(({ subject }) => subject)
  const answerTo = (inbox_mail_id: string, subject: string, more: object = {}) =>
    insert('answers', {
      id: randomUUID(),
      project_id: projects.demir,
      inbox_mail_id,
      email: 'jo@client.example',
      subject,
      text: 'Thanks.',
      message_id: `<${randomUUID()}>`,
      written_by: 'token',
      ...more,
    })

  test('has what went to the lead and came from it, oldest first', async () => {
    const lead_id = lead.id
    await wrote('first', { lead_id, name: 'Jo', claimed_at: '2026-11-01Z', sent_at: '2026-11-02Z' })
    await wrote('waits', { lead_id })
    await wrote('elsewhere', { project: 'other', lead_id, claimed_at: '2026-11-01Z' })
    await wrote('of nobody', { claimed_at: '2026-11-01Z' })
    await wrote('third', { lead_id, claimed_at: '2026-11-04Z' })
    const id = await came('second', {
      ...{ lead_id, text: 'Yes.', whole: 'Yes.\n> Hello', received_at: '2026-11-03Z' },
      from_email: 'jo@home.example',
      from_name: 'Jo',
    })
    await came('of nobody else', { received_at: '2026-11-03Z' })
    await came('last', { lead_id, text: 'No.', whole: 'No.', received_at: '2026-11-06Z' })
    await answerTo(id, 'fourth', { lead_id, created_at: '2026-11-05Z', state: 'unclear' })
    const thread = await threadOf(id)
    expect(thread.map(({ subject }) => subject)).toEqual([
      'first',
      'second',
      'third',
      'fourth',
      'last',
    ])
    expect(thread[0]).toMatchObject({
      from: 'us',
      kind: 'draft',
      email: 'jo@client.example',
      name: 'Jo',
      text: 'Hello Jo',
      quoted: null,
      state: 'waiting',
      at: '2026-11-02T00:00:00.000Z',
    })
    expect(thread[1]).toMatchObject({
      from: 'them',
      kind: 'reply',
      email: 'jo@home.example',
      text: 'Yes.',
      quoted: 'Yes.\n> Hello',
      state: null,
    })
    expect(thread[3]).toMatchObject({
      from: 'us',
      kind: 'answer',
      text: 'Thanks.',
      state: 'unclear',
    })
    expect(thread[4]).toMatchObject({ quoted: null })
  })

  test('without a lead has what went to the address and came about it', async () => {
    await wrote('first', { claimed_at: '2026-11-01Z' })
    await wrote('to another', { claimed_at: '2026-11-01Z', email: 'al@client.example' })
    const id = await came('second', { received_at: '2026-11-03Z' })
    await came('about another', { our_email: 'al@client.example' })
    await came('of a lead', { lead_id: lead.id })
    await came('third', { received_at: '2026-11-04Z' })
    await answerTo(id, 'answer', { created_at: '2026-11-03T12:00Z', sent_at: '2026-11-05Z' })
    expect(await names(id)).toEqual(['first', 'second', 'third', 'answer'])
  })

  test('has the newest 50', async () => {
    let id = ''
    for (let nth = 10; nth < 61; nth += 1) {
      id = await came(`${nth}`, { received_at: `2026-11-21T10:00:00.${nth}Z` })
    }
    const found = await names(id)
    expect([found.length, found[0], found.at(-1)]).toEqual([50, '11', '60'])
  })

  test('tells whether the mail was answered, and not by an answer that failed', async () => {
    const states: unknown[] = []
    for (const state of ['waiting', 'sending', 'failed', 'unclear', 'sent']) {
      const id = await came(state)
      await answerTo(id, 'Re', { state })
      states.push((await get(`inbox/get?id=${id}`)).body.mail.answered)
    }
    expect(states).toEqual([false, false, false, true, true])
  })
})

test('a conversation has the mail that was opened and the newest others, and counts the rest', async () => {
  const at = (day: number) => new Date(Date.UTC(2026, 0, day)).toISOString()
  const oldest = await came('0', { lead_id: lead.id, received_at: at(1) })
  for (let nth = 1; nth <= 52; nth += 1) {
    await came(String(nth), { lead_id: lead.id, received_at: at(1 + nth) })
  }
  const { thread, left_out } = (await get(`inbox/get?id=${oldest}`)).body
  const numbers = thread.map(({ subject }: Listed) => Number(subject))
  expect(numbers).toEqual([0, ...Array.from({ length: 49 }, (_, nth) => nth + 4)])
  expect(left_out).toBe(3)
})
