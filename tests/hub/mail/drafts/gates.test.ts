import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everywhere, type Project } from '../../../../hub/db/db.ts'
import { verbatim } from '../../../../hub/i18n/words.ts'
import { NO_BRAND } from '../../../../hub/mail/brand/brand.ts'
import type { Person, Skip } from '../../../../hub/mail/drafts/audience.ts'
import type { DraftRow } from '../../../../hub/mail/drafts/drafts.ts'
import { type Gate, gatesOf, requireOpen } from '../../../../hub/mail/drafts/gates.ts'
import type { JudgedSentence } from '../../../../hub/mail/drafts/judged.ts'
import { MailSettings } from '../../../../hub/mail/settings.ts'
import type { ApiError } from '../../../../shared/problem.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import { BRAND, smtpSettings } from '../../support/mail-help.ts'

let hub: TestHub
let project: Project
beforeAll(async () => {
  hub = await startHub()
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir' })
  const [row] = await hub.query<Project>('select * from hub.projects')
  if (!row) throw new Error('the project was not made')
  project = row
})
afterAll(() => hub.close())

type Given = Parameters<typeof gatesOf>[0]
const person = (skip: Skip | null): Person => ({
  lead_id: crypto.randomUUID(),
  email: 'jo@client.example',
  name: null,
  company: null,
  own: {},
  empty: [],
  skip,
})
const PUBLIC = 'https://hub.demir.example'
const TODAY = {
  cap: 200,
  used: 3,
  left: 197,
  sent: 50,
  hard_bounces: 2,
  complaints: 1,
  alarm: null,
  senders: new Map([['ada@demir.example', { used: 30, days: 2 }]]),
}

const NO_SENDER = { sender_name: null, sender_email: null }

/** The gates of a mail to which nothing is missing, unless told otherwise. */
async function gates(
  more: Partial<Omit<Given, 'draft' | 'mail' | 'brand'>> & {
    draft?: object
    mail?: object
    brand?: object
  } = {},
): Promise<Gate[]> {
  const mail = MailSettings.parse({ ...smtpSettings(25), ...more.mail })
  const draft = {
    project_id: project.id,
    audience: { kind: 'list', filter: {} },
    state: 'approved',
    rendered_text: 'Hello.\n',
    ...more.draft,
  } as unknown as DraftRow // safe: the gates read no other column in this state
  return everywhere(hub.deps.db, (sql) =>
    gatesOf({
      config: { ...hub.config, public_url: PUBLIC },
      pause: { reason: null, detail: null, since: null },
      today: TODAY,
      dns: null,
      named: { used: [], unknown: [], unfit: [] },
      project,
      people: [person(null)],
      without_email: 0,
      sentences: [],
      ...more,
      sql,
      draft,
      mail,
      brand: { ...NO_BRAND, ...BRAND, ...more.brand },
    }),
  )
}
/** A sentence of which the judge is not sure. */
const judged = (sentence: string): JudgedSentence => ({
  sentence,
  verdict: 'unsure',
  evidence_ids: [],
  fails: 0,
  fails_for: [],
  opinion: null,
  basis: '0'.repeat(64),
  stand: null,
})
const shown = ({ name, ok, blocks, detail, way_out }: Gate) =>
  `${ok ? 'open' : blocks ? 'shut' : 'advice'} ${name}: ${detail.en}${way_out ? ` ${way_out.en}` : ''}`
/** The gates that are not open. */
const wrong = async (more: Parameters<typeof gates>[0]) =>
  (await gates(more)).filter(({ ok }) => !ok).map(shown)
const one = async (name: string, more: Parameters<typeof gates>[0]) => {
  const found = (await gates(more)).find((gate) => gate.name === name)
  return found && shown(found)
}

test('of a mail to which nothing is missing are all open, in this order', async () => {
  const found = await gates()
  expect(found.map(shown)).toEqual([
    'open evidence: Sentences that state something: 0, each with evidence.',
    'open fields: True for every recipient.',
    'open recipients: 1 of 1 people will get it.',
    'open suppression: True for every recipient.',
    'open lawful_basis: True for every recipient.',
    'open source: True for every recipient.',
    'open replies: True for every recipient.',
    'open addresses: True for every recipient.',
    'open transport: SMTP, one mail at a time.',
    'open sender: Ayşe Demir <ayse@demir.example>',
    `open unsubscribe: Recipients unsubscribe with one click at ${PUBLIC}.`,
    'open postal_address: Demir Lojistik, Liman Cad. 1, İzmir',
    'open daily_cap: 3 of today’s 200 mails have been sent.',
    'open paused: Mail is not paused.',
    'open bounces: 2 of 50 mails.',
    'open complaints: 1 of 50 mails.',
    'open license: The license covers this project.',
    'open spf: Unknown: DNS was not queried or did not answer.',
    'open dkim: Unknown: DNS was not queried or did not answer.',
    'open dmarc: Unknown: DNS was not queried or did not answer.',
  ])
  expect(found.filter(({ blocks }) => blocks)).toEqual([])
  expect(() => requireOpen(found)).not.toThrow()
})

describe('nothing is sent', () => {
  test('while a sentence has no evidence', async () => {
    const [trucks, city] = [judged('You own 42 trucks.'), judged('You are in İzmir.')]
    const add = 'Change the sentence, add evidence for it, or stand for it yourself.'
    expect(await wrong({ sentences: [trucks] })).toEqual([
      `shut evidence: 1 sentence has no evidence: “You own 42 trucks.” ${add}`,
    ])
    expect(await wrong({ sentences: [trucks, city] })).toEqual([
      `shut evidence: 2 sentences have no evidence, one of them: “You own 42 trucks.” ${add}`,
    ])
    const denied = { ...city, verdict: 'contradicted' as const }
    expect(await wrong({ sentences: [trucks, denied] })).toEqual([
      `shut evidence: The evidence says otherwise: “You are in İzmir.” In all, 2 sentences have no evidence. ${add}`,
    ])
    const stand = { by: 'session' as const, name: null, at: '2026-01-01T00:00:00Z' }
    const stood = [
      { ...trucks, stand },
      { ...city, verdict: 'supported' as const },
    ]
    expect(await one('evidence', { sentences: stood })).toBe(
      'open evidence: Sentences with evidence: 1. Sentences that a person stands for: 1.',
    )
  })

  test('to nobody, and why there is nobody', async () => {
    const other = 'Correct the leads or choose another audience.'
    expect(await wrong({ people: [] })).toEqual([
      `shut recipients: Nobody would get it: no lead of the audience has an e-mail address. ${other}`,
    ])
    const people = [person('replied'), person('suppressed'), person('replied')]
    const [first] = await wrong({ people })
    expect(first).toMatch(
      /^shut recipients: Nobody would get it: 2 [^;]+; 1 [^;]+\. Correct the leads/,
    )
  })

  test('without a server, a sender, a postal address or a way to unsubscribe', async () => {
    expect(await wrong({ mail: { smtp: null } })).toContain(
      'shut transport: No mail server is set up. Set up listmonk or SMTP in Settings > Mail.',
    )
    expect(await wrong({ brand: NO_SENDER })).toEqual([
      'shut sender: The project has no sender. Enter the sender in Project > Brand.',
    ])
    const address =
      'shut postal_address: The footer has no postal address. Enter it in Project > Brand.'
    expect(await wrong({ brand: { postal_address: null } })).toEqual([address])
    expect(await wrong({ config: { ...hub.config, public_url: null } })).toEqual([
      'shut unsubscribe: Recipients could not reach the unsubscribe link: the hub has no public https address.' +
        ' In Settings > Mail, enter the https address where recipients reach the hub (public_url).',
    ])
  })

  test('while all mail is paused, with the reason and its detail', async () => {
    const confirm = 'Find the cause, then confirm in Settings > Mail.'
    const pause = (reason: 'admin' | 'restored', detail: string | null) => ({
      reason,
      detail: detail === null ? null : verbatim(detail),
      since: null,
    })
    expect(await wrong({ pause: pause('admin', null) })).toEqual([
      `shut paused: Mail is paused. ${confirm}`,
    ])
    expect(await wrong({ pause: pause('restored', 'Of yesterday.') })).toEqual([
      `shut paused: Mail is paused because a backup was restored. Of yesterday. ${confirm}`,
    ])
  })

  test.each(['bounces', 'complaints'] as const)('after too many %s', async (reason) => {
    const alarm = { reason, detail: verbatim('Too many.') }
    expect(await wrong({ today: { ...TODAY, alarm } })).toEqual([
      `shut ${reason}: Too many. Find the cause, then confirm in Settings > Mail.`,
    ])
  })

  test('in a project that the license does not cover', async () => {
    const [second] = await hub.query<Project>(
      "insert into hub.projects (slug, name) values ('second', 'Second') returning *",
    )
    if (!second) throw new Error('the project was not made')
    const [first] = await wrong({ project: second })
    await hub.query("delete from hub.projects where slug = 'second'")
    expect(first).toMatch(/^shut license: .* Enter a license in Settings > License\.$/)
  })
})

describe('some are left out, or advised', () => {
  test.each<[Skip, string]>([
    ['suppressed', 'suppression'],
    ['no_lawful_basis', 'lawful_basis'],
    ['no_source', 'source'],
    ['replied', 'replies'],
    ['invalid_email', 'addresses'],
    ['role_address', 'addresses'],
    ['disposable_address', 'addresses'],
  ])('by %s at the gate %s', async (skip, name) => {
    const people = [person(null), person(skip), person(skip)]
    const found = await wrong({ people })
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(
      new RegExp(
        `^advice ${name}: 2 skipped: [^;]+\\. Correct these leads, or send without them\\.$`,
      ),
    )
    expect(await one('recipients', { people })).toBe('open recipients: 1 of 3 people will get it.')
  })

  test('by several reasons of one gate, the most frequent first', async () => {
    const people = [null, 'invalid_email', 'role_address', 'role_address'] as const
    const [addresses] = await wrong({ people: people.map(person) })
    expect(addresses).toMatch(/^advice addresses: 2 skipped: a role address .*; 1 skipped: /)
  })

  test('because they have no address', async () => {
    expect(await one('recipients', { without_email: 1 })).toBe(
      'open recipients: 1 of 1 people will get it. 1 lead has no e-mail address.',
    )
    expect(await one('recipients', { without_email: 2 })).toContain('2 leads have no e-mail')
  })

  test('until tomorrow, when today’s limit is reached', async () => {
    expect(await one('daily_cap', { today: { ...TODAY, left: 1 } })).toMatch(/^open/)
    expect(await wrong({ today: { ...TODAY, left: 0 } })).toEqual([
      'advice daily_cap: Today’s limit of 200 mails is reached. Sending continues automatically tomorrow.',
    ])
    // With a ramp: that of the sender, unless the limit of all is reached first.
    const ramped = (start: number, today = TODAY) => ({
      today,
      mail: { ramp: { start, step: 5 } },
      brand: { sender_name: 'Ada', sender_email: 'Ada@demir.example' },
    })
    expect(await one('daily_cap', ramped(30))).toBe(
      'open daily_cap: Ada@demir.example has sent 30 of the 40 mails of its day 3.',
    )
    expect(await wrong(ramped(20))).toEqual([
      'advice daily_cap: Ada@demir.example has sent the 30 mails that it may send on its day 3. Sending continues automatically tomorrow.',
    ])
    expect(await wrong(ramped(30, { ...TODAY, left: 0 }))).toEqual([
      'advice daily_cap: Today’s limit of 200 mails is reached. Sending continues automatically tomorrow.',
    ])
  })

  test('what the DNS of the sender has or lacks', async () => {
    const dns = {
      domain: 'demir.example',
      spf: { state: 'present' as const, record: 'v=spf1 -all', advice: null },
      dkim: { state: 'present' as const, record: null, advice: null },
      dmarc: { state: 'missing' as const, record: null, advice: verbatim('Add one.') },
    }
    expect(await one('spf', { dns })).toBe('open spf: v=spf1 -all')
    expect(await one('dkim', { dns })).toBe('open dkim: The record was found.')
    expect(await wrong({ dns })).toEqual([
      'advice dmarc: The sender’s domain has no DMARC record. Add one.',
    ])
    const unknown = { state: 'unknown' as const, record: null, advice: verbatim('x') }
    expect(await wrong({ dns: { ...dns, dmarc: unknown } })).toEqual([])
  })
})

test('a step is refused with the first shut gate in words and each as an issue', async () => {
  const refusal = async (more: Parameters<typeof gates>[0]) => {
    try {
      requireOpen(await gates(more))
    } catch (error) {
      return error as ApiError // safe: the next lines look at what it is
    }
    throw new Error('it was not refused')
  }
  const single = await refusal({ brand: NO_SENDER })
  expect(single.code).toBe('conflict')
  const several = await refusal({
    brand: { ...NO_SENDER, postal_address: null },
    people: [],
    today: { ...TODAY, left: 0 },
  })
  expect(several.issues?.map(({ path }) => path)).toEqual([
    'gates.recipients',
    'gates.sender',
    'gates.postal_address',
  ])
  const sender = 'The project has no sender. Enter the sender in Project > Brand.'
  expect(single.message).toBe(`This draft cannot be sent yet: ${sender}`)
  expect(several.message).toMatch(/^This draft cannot be sent yet: .* 2 more checks failed\.$/)
  const two = await refusal({ brand: { ...NO_SENDER, postal_address: null } })
  expect(two.message).toBe(`This draft cannot be sent yet: ${sender} 1 more check failed.`)
})
