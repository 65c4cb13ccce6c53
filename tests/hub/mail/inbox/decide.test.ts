import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { kindOf } from '../../../../hub/mail/inbox/incoming.ts'
import {
  add,
  api,
  count,
  hub,
  kindsOf,
  leadOf,
  type Person,
  receive,
  useInbox,
  writeTo,
} from './inbox-scene.ts'

useInbox()

type Mail = { id: string; kind: string }
const get = async ({ id }: Mail) => (await api.get(`inbox/get?id=${id}`)).body.mail
const sort = (mail: Mail, is_reply: boolean) => api.post('inbox/sort', { id: mail.id, is_reply })
const repliedAt = async ({ id }: Person) =>
  (
    await hub.query<{ replied_at: Date | null }>(
      'select replied_at from hub.recipients where lead_id = $1',
      [id],
    )
  )[0]?.replied_at
const told = async (lead: Person, kind: string) =>
  (await kindsOf(lead)).filter((one: string) => one === kind).length

describe('a mail is sorted', () => {
  const said = { subject: 'Re: A short question', body: null }
  const away = { subject: 'Automatic reply: I am out of the office', body: null }
  test.each([
    ['a person in our thread', null, said, 'message_id', 'reply'],
    ['a person with our subject', null, said, 'subject', 'reply'],
    ['a person, known by the address alone', null, said, 'address', 'unrelated'],
    ['a notice of absence in our thread', 'replied', away, 'message_id', 'out_of_office'],
    [
      'a notice of absence, known by the address alone',
      'replied',
      away,
      'address',
      'out_of_office',
    ],
    ['an absence in a newsletter', 'list', away, 'address', 'unrelated'],
    ['an absence that a list tells in our thread', 'list', away, 'subject', 'out_of_office'],
    ['a receipt', 'replied', said, 'message_id', 'unrelated'],
  ] as const)('%s', (_, automatic, { subject, body }, matched_by, kind) => {
    // safe: the kinds of automatic mail are texts
    const mail = { automatic: automatic as never, subject, body }
    expect(kindOf(mail, matched_by)).toBe(kind)
  })
})

describe('a person says', () => {
  test('that a notice of absence is a reply: nothing waits for its end any more', async () => {
    const lead = await add()
    const id = await writeTo(lead)
    const mail = await receive(lead.email, {
      headers: `In-Reply-To: ${id}\nAuto-Submitted: auto-replied`,
      subject: 'Automatic reply: A short question',
      text: 'I am out of the office. Call me on Monday.',
    })
    expect(mail).toMatchObject({ kind: 'out_of_office', away_until: expect.any(String) })
    expect((await sort(mail, true)).status).toBe(200)
    expect(await get(mail)).toMatchObject({ kind: 'reply', matched_by: 'person', away_until: null })
    expect((await leadOf(lead)).stage).toBe('replied')
  })

  test('that an automatic answer with a request to stop is a reply: the request is open from then on', async () => {
    const lead = await add()
    const id = await writeTo(lead)
    const mail = await receive(lead.email, {
      headers: `In-Reply-To: ${id}\nAuto-Submitted: auto-replied`,
      subject: 'Automatic reply: A short question',
      text: 'I am out of the office. Please unsubscribe me.',
    })
    expect(mail).toMatchObject({ kind: 'out_of_office', opt_out: null })
    await sort(mail, true)
    expect(await get(mail)).toMatchObject({ kind: 'reply', opt_out: 'open' })
    expect(await leadOf(lead)).toMatchObject({ may_refuse: true, stage: 'replied' })
  })

  test('that one of two replies is none: the lead has replied still', async () => {
    const lead = await add()
    const id = await writeTo(lead)
    const headers = `In-Reply-To: ${id}`
    const mails = [
      await receive(lead.email, { headers, text: 'Thanks.' }),
      await receive(lead.email, { headers, text: 'A receipt of our system.' }),
    ]
    await sort(mails[1], false)
    expect((await leadOf(lead)).stage).toBe('replied')
    expect(await repliedAt(lead)).not.toBeNull()
    await sort(mails[0], false)
    expect((await leadOf(lead)).stage).toBe('contacted')
    expect(await repliedAt(lead)).toBeNull()
    expect(await sort(mails[0], false)).toMatchObject({ status: 409 })
  })

  test('that a reply is none: that of another recipient of the same mail counts nothing', async () => {
    const lead = await add()
    const headers = `In-Reply-To: ${await writeTo(lead)}`
    const others = await receive(lead.email, { headers, text: 'Thanks.' })
    const own = await receive(lead.email, { headers, text: 'A receipt of our system.' })
    await hub.query(
      `update hub.inbox_mails set our_email = 'another@client.example' where id = $1`,
      [others.id],
    )
    await sort(own, false)
    expect((await leadOf(lead)).stage).toBe('contacted')
  })

  test('that a reply is none: a lead that replied to another mail too has replied still', async () => {
    const lead = await add()
    const mails = []
    for (let nr = 0; nr < 2; nr += 1) {
      const headers = `In-Reply-To: ${await writeTo(lead)}`
      mails.push(await receive(lead.email, { headers, text: 'Thanks.' }))
    }
    await sort(mails[0], false)
    expect((await leadOf(lead)).stage).toBe('replied')
    await sort(mails[1], false)
    expect((await leadOf(lead)).stage).toBe('contacted')
  })

  test('that a reply is none: a lead that has gone further stays there', async () => {
    const lead = await add()
    const id = await writeTo(lead)
    const mail = await receive(lead.email, { headers: `In-Reply-To: ${id}` })
    await hub.query(`update hub.leads set stage = 'meeting' where id = $1`, [lead.id])
    await sort(mail, false)
    expect((await leadOf(lead)).stage).toBe('meeting')
  })

  test('that somebody does not ask for that: mail may go there again', async () => {
    const lead = await add()
    await writeTo(lead)
    const mail = await receive(lead.email, { subject: 'Hi', text: 'Please unsubscribe me.' })
    await api.ok('inbox/opt_out', { id: mail.id, refuses: false })
    expect(await leadOf(lead)).toMatchObject({ may_refuse: false })
    expect((await api.get(`suppression?email=${lead.email}`)).body.suppression).toEqual([])
    expect((await get(mail)).handled_at).toBeNull()
  })

  test('that somebody asks for that: the mail is done', async () => {
    const lead = await add()
    await writeTo(lead)
    const mail = await receive(lead.email, { subject: 'Hi', text: 'Please unsubscribe me.' })
    await api.ok('inbox/opt_out', { id: mail.id, refuses: true })
    expect((await api.get(`suppression?email=${lead.email}`)).body.suppression).toHaveLength(1)
    expect((await get(mail)).handled_at).not.toBeNull()
  })

  test('whose a reply from elsewhere is: told once of the one, with its answers, and evidence about them alone', async () => {
    const [lead, other] = [await add(), await add()]
    const id = await writeTo(lead)
    const mail = await receive('colleague@client.example', {
      headers: `In-Reply-To: ${id}`,
      text: 'We have 42 trucks in Izmir.',
    })
    await api.ok('inbox/answer', { id: mail.id, answer_id: crypto.randomUUID(), text: 'Thanks.' })
    const assign = () => api.ok('inbox/assign', { id: mail.id, lead_id: other.id })
    await assign()
    await assign()
    expect(await told(other, 'replied')).toBe(1)
    expect(await leadOf(other)).toMatchObject({
      stage: 'replied',
      evidence: [{ fact: 'We have 42 trucks in Izmir.' }],
    })
    expect((await leadOf(lead)).evidence).toEqual([])
    const [answer] = await hub.query('select lead_id from hub.answers where inbox_mail_id = $1', [
      mail.id,
    ])
    expect(answer).toEqual({ lead_id: other.id })
  })

  test('that somebody asks for that from another address: neither gets mail', async () => {
    const lead = await add()
    const id = await writeTo(lead)
    const from = `colleague.of.${lead.email}`
    const text = 'Did others unsubscribe after such a mail?'
    const mail = await receive(from, { headers: `In-Reply-To: ${id}`, text })
    expect(mail).toMatchObject({ opt_out: 'open' })
    await api.ok('inbox/opt_out', { id: mail.id, refuses: true })
    for (const email of [lead.email, from]) {
      expect((await api.get(`suppression?email=${email}`)).body.suppression).toHaveLength(1)
    }
  })

  test.each([
    [true, 'asked', 1],
    [false, 'denied', 0],
  ])(
    'once what a mail of a deleted lead asks for: %s is kept as %s',
    async (refuses, kept, hits) => {
      const lead = await add()
      await writeTo(lead)
      const mail = await receive(lead.email, { subject: 'Hi', text: 'Please unsubscribe me.' })
      const [draft] = await hub.query<{ id: string }>(
        'update hub.recipients set lead_id = null where lead_id = $1 returning draft_id as id',
        [lead.id],
      )
      await hub.query('update hub.inbox_mails set lead_id = null where id = $1', [mail.id])
      await api.ok('inbox/opt_out', { id: mail.id, refuses })
      expect(await api.post('inbox/opt_out', { id: mail.id, refuses: true })).toMatchObject({
        status: 409,
      })
      expect(
        await hub.query('select opt_out from hub.recipients where draft_id = $1', [draft?.id]),
      ).toEqual([{ opt_out: kept }])
      const { suppression } = (await api.get(`suppression?email=${lead.email}`)).body
      expect(suppression).toHaveLength(hits)
    },
  )

  test('whose a mail is, of their own project alone', async () => {
    const lead = await add()
    await writeTo(lead)
    const mail = await receive(lead.email, { subject: 'Prices', text: 'We sell 40 pallets.' })
    const [other] = await hub.query<{ id: string }>(
      `with other as (insert into hub.projects (slug, name) values ('other', 'Other') returning id)
       insert into hub.leads (project_id, name) select id, 'Somebody' from other returning id`,
    )
    const answer = await api.post('inbox/assign', { id: mail.id, lead_id: other?.id })
    expect(answer.status).toBe(404)
    const [kept] = await hub.query('select lead_id from hub.inbox_mails where id = $1', [mail.id])
    expect(kept).toEqual({ lead_id: lead.id })
    await hub.query("delete from hub.projects where slug = 'other'")
  })

  test('whose a mail is that is no reply: nothing follows from it', async () => {
    const [lead, other] = [await add(), await add()]
    await writeTo(lead)
    const mail = await receive(lead.email, { subject: 'Prices', text: 'We sell 40 pallets.' })
    await api.ok('inbox/assign', { id: mail.id, lead_id: other.id })
    expect(await leadOf(other)).toMatchObject({ stage: 'new', evidence: [] })
    expect(await told(other, 'replied')).toBe(0)
  })

  test('whose a reply with a request to stop is: it is no evidence', async () => {
    const [lead, other] = [await add(), await add()]
    const id = await writeTo(lead)
    const mail = await receive('colleague@client.example', {
      headers: `In-Reply-To: ${id}`,
      text: 'Did others unsubscribe after such a mail? We have 42 trucks.',
    })
    expect(mail).toMatchObject({ kind: 'reply', opt_out: 'open' })
    await api.ok('inbox/assign', { id: mail.id, lead_id: other.id })
    expect((await leadOf(other)).evidence).toEqual([])
  })
})

test('of a reply the thread has the last twenty Message-IDs, its own at the end', async () => {
  const lead = await add()
  const id = await writeTo(lead)
  const others = Array.from({ length: 30 }, (_, nr) => `<r${nr}@x>`)
  const mail = await receive(lead.email, {
    headers: `In-Reply-To: ${id}\nReferences: ${[id, ...others].join('\n ')}`,
  })
  const [row] = await hub.query<{ thread_ids: string[]; message_id: string }>(
    'select thread_ids, message_id from hub.inbox_mails where id = $1',
    [mail.id],
  )
  expect(row?.thread_ids).toHaveLength(20)
  expect(row?.thread_ids.at(-1)).toBe(row?.message_id)
  expect(row?.thread_ids.at(-2)).toBe('<r29@x>')
})

test('a mail that names none of ours is about the last one that we sent', async () => {
  const lead = await add()
  await writeTo(lead)
  await writeTo(lead)
  const mail = await receive(lead.email, { subject: 'Something else' })
  const [row] = await hub.query<{ about: string; sent: string[] }>(
    `select mail.draft_id as about, (
      select array_agg(draft_id order by claimed_at) from hub.recipients where email = $2) as sent
    from hub.inbox_mails as mail where id = $1`,
    [mail.id, lead.email],
  )
  expect(row?.sent).toHaveLength(2)
  expect(row?.about).toBe(row?.sent[1])
})

test('a mail that names an answer of ours is a reply only if that answer went out', async () => {
  const lead = await add()
  const id = await writeTo(lead)
  const first = await receive(lead.email, { headers: `In-Reply-To: ${id}` })
  const answer_id = randomUUID()
  await api.ok('inbox/answer', { id: first.id, answer_id, text: 'Hello.' })
  const [answer] = await hub.query<{ message_id: string }>(
    'select message_id from hub.answers where id = $1',
    [answer_id],
  )
  const named = { headers: `In-Reply-To: ${answer?.message_id}`, subject: 'Something else' }
  expect(await receive(lead.email, named)).toMatchObject({ kind: 'reply' })
  await hub.query(
    "update hub.answers set state = 'failed', claimed_at = null, sent_at = null where id = $1",
    [answer_id],
  )
  expect(await receive(lead.email, named)).toMatchObject({ kind: 'unrelated' })
})

test('a reply that a timeline of before there was an inbox tells is not told again', async () => {
  const lead = await add()
  const id = await writeTo(lead)
  await hub.query(
    `insert into hub.activities (project_id, lead_id, kind, details)
    select project_id, id, 'replied', $2 from hub.leads where id = $1`,
    [lead.id, JSON.stringify({ message_id: `<in${count + 1}@x>` })],
  )
  await receive(lead.email, { headers: `In-Reply-To: ${id}` })
  const { mails } = (await api.get(`inbox/list?lead_id=${lead.id}&show=all&state=all`)).body
  expect(mails).toEqual([])
  expect(await told(lead, 'replied')).toBe(1)
})

test('a second reply without a word is not told, and no doubt takes back a clear request', async () => {
  const lead = await add()
  const headers = `In-Reply-To: ${await writeTo(lead)}`
  await receive(lead.email, { headers, text: 'Unsubscribe.' })
  await receive(lead.email, { headers, text: '' })
  expect(await told(lead, 'replied')).toBe(1)
  const text = 'Did others unsubscribe after such a mail? We like it.'
  await receive(lead.email, { headers, text })
  const [row] = await hub.query(
    `select (select opt_out from hub.recipients where lead_id = $1) as reader, array(
      select opt_out from hub.inbox_mails where lead_id = $1 order by received_at, text) as mails`,
    [lead.id],
  )
  expect(row).toEqual({ reader: 'asked', mails: ['asked', null, 'open'] })
})

test('what a reply says twice is one piece of evidence', async () => {
  const lead = await add()
  const id = await writeTo(lead)
  const given = { headers: `In-Reply-To: ${id}`, text: 'We have 42 trucks in Izmir.' }
  await receive(lead.email, given)
  await receive(lead.email, given)
  expect((await leadOf(lead)).evidence).toMatchObject([{ fact: given.text }])
})

test('a reply that is only known by its subject is marked in the timeline, and no evidence', async () => {
  const lead = await add()
  await writeTo(lead)
  await receive(lead.email, { text: 'We have 42 trucks in Izmir.' })
  const { activities } = (await api.get(`lead/timeline?lead_id=${lead.id}`)).body
  const reply = activities.find(({ kind }: { kind: string }) => kind === 'replied')
  expect(reply.details).toMatchObject({ only_address: true, text: 'We have 42 trucks in Izmir.' })
  expect((await leadOf(lead)).evidence).toEqual([])
})
