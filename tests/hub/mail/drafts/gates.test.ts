import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everywhere, type Project } from '../../../../hub/db/db.ts'
import { verbatim } from '../../../../hub/i18n/words.ts'
import { NO_BRAND } from '../../../../hub/mail/brand/brand.ts'
import type { Skip } from '../../../../hub/mail/drafts/audience.ts'
import type { DraftRow } from '../../../../hub/mail/drafts/drafts.ts'
import { type Gate, gatesOf, requireOpen } from '../../../../hub/mail/drafts/gates.ts'
import { renderContent } from '../../../../hub/mail/render/rendering.ts'
import { MAIL, MailSettings } from '../../../../hub/mail/settings.ts'
import { writeSetting } from '../../../../hub/ops/settings.ts'
import type { ApiError } from '../../../../shared/problem.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import { apiOf, BRAND, setBrand, smtpSettings } from '../../support/mail-help.ts'
import { judged, LISTMONK, NO_SENDER, PUBLIC, person, shown, TODAY } from './gates-scene.ts'

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

  test('while its text names fields that the project does not have, or puts instead what cannot be', async () => {
    const named = { used: [], unknown: ['fleet', 'since'], unfit: ['name'] }
    const correct = 'Correct the names in the text, or add the fields to the project.'
    const unfit =
      'A fallback text must have 1 to 80 characters, without < > " & and braces: {name}.'
    expect(await wrong({ named })).toEqual([
      `shut fields: The mail names fields that the project does not have: {fleet}, {since}. ${unfit} ${correct}`,
    ])
    expect(await wrong({ named: { ...named, unknown: [] } })).toEqual([
      `shut fields: ${unfit} ${correct}`,
    ])
    expect(await wrong({ named: { ...named, unfit: [], unknown: ['x'] } })).toEqual([
      `shut fields: The mail names fields that the project does not have: {x}. ${correct}`,
    ])
  })

  test('of a sequence by listmonk, which does not tell whether a mail left', async () => {
    const draft = { sequence_id: crypto.randomUUID() }
    expect(await wrong({ draft, mail: { smtp: null, listmonk: LISTMONK } })).toEqual([
      'shut transport: The mails of a sequence go by SMTP: listmonk does not tell whether a mail left, and the next one depends on it. Set up SMTP in Settings > Mail; campaigns still go by listmonk.',
    ])
    expect(await wrong({ draft, mail: { smtp: null } })).toEqual([
      'shut transport: No mail server is set up. Set up listmonk or SMTP in Settings > Mail.',
    ])
    expect(await wrong({ draft, mail: { listmonk: LISTMONK } })).toEqual([])
  })

  test('that would look different now', async () => {
    await setBrand(apiOf(hub))
    const content = {
      id: crypto.randomUUID(),
      project_id: project.id,
      sequence_id: null,
      audience: { kind: 'list' as const, filter: {} },
      template: 'letter' as const,
      language: 'en' as const,
      subject: 'A question',
      text: 'Would you like to talk?',
      slots: {},
    }
    const settings = (listmonk: object | null) =>
      writeSetting(hub.config.paths, MAIL, MailSettings.parse({ ...smtpSettings(25), listmonk }))
    const now = async () => {
      const { mail, campaign } = await everywhere(hub.deps.db, (sql) =>
        renderContent(sql, project, hub.config, content as unknown as DraftRow),
      )
      return {
        ...content,
        state: 'rendered',
        html: mail.html,
        rendered_text: mail.text,
        rendered_subject: mail.subject,
        campaign,
      }
    }
    const stale =
      'shut rendering: The project’s brand, the lead or the mail server has changed since it was rendered. Render it again.'
    const fresh = 'open rendering: The rendered mail matches the current settings.'
    await settings(null)
    const single = await now()
    expect(single.campaign).toBeNull()
    expect(await one('rendering', { draft: single })).toBe(fresh)
    for (const field of ['html', 'rendered_text', 'rendered_subject'] as const) {
      const changed = { ...single, [field]: `${single[field]} ` }
      expect([field, await one('rendering', { draft: changed })]).toEqual([field, stale])
    }
    // The same mail as a campaign of listmonk is another one.
    await settings(LISTMONK)
    expect(await one('rendering', { draft: single })).toBe(stale)
    const campaign = await now()
    expect(await one('rendering', { draft: campaign })).toBe(fresh)
    const other = { ...campaign.campaign, html: 'other' }
    expect(await one('rendering', { draft: { ...campaign, campaign: other } })).toBe(stale)
    // What is approved is not rendered again.
    expect(await one('rendering', { draft: { ...single, state: 'approved' } })).toBeUndefined()
    await settings(null)
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
    ['may_refuse', 'suppression'],
    ['replied_since', 'replies'],
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

  test('because a field that the mail names is empty, by name for the first five', async () => {
    const lacking = (name: string | null, ...empty: string[]) => ({
      ...person('empty_field'),
      name,
      empty,
    })
    const fill =
      'Fill in the field on the lead, add a fallback text as in {field|text}, or send without these recipients.'
    expect(await wrong({ people: [person(null), lacking(null, 'Fleet')] })).toEqual([
      `advice fields: “Fleet” is empty for jo@client.example. This recipient is left out. ${fill}`,
    ])
    const people = ['A', 'B', 'C', 'D', 'E', 'F'].map((name) => lacking(name, 'Fleet'))
    expect(await wrong({ people: [person(null), ...people, lacking('G', 'Since')] })).toEqual([
      `advice fields: “Fleet” is empty for A, B, C, D, E and 1 more. “Since” is empty for G. These 7 recipients are left out. ${fill}`,
    ])
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

test('by which server it goes is said, and how one unsubscribes', async () => {
  const by = async (mail: object, draft: object, config = {}) =>
    Promise.all(
      ['transport', 'unsubscribe'].map((name) =>
        one(name, { mail, draft, config: { ...hub.config, public_url: PUBLIC, ...config } }),
      ),
    )
  const lead = { audience: { kind: 'lead', lead_id: crypto.randomUUID() } }
  const listmonk = { smtp: null, listmonk: LISTMONK }
  const link = `open unsubscribe: Recipients unsubscribe with one click at ${PUBLIC}.`
  const own = 'open unsubscribe: listmonk adds its own unsubscribe link and headers.'
  const campaign = 'open transport: listmonk, as a campaign on a list of its own.'
  expect(await by(listmonk, {})).toEqual([campaign, own])
  expect(await by(listmonk, {}, { public_url: null })).toEqual([campaign, own])
  expect(await by(listmonk, lead)).toEqual(['open transport: listmonk, as a single mail.', link])
  expect(await by(listmonk, lead, { public_url: null })).toEqual([campaign, own])
  expect(await by({}, lead)).toEqual(['open transport: SMTP, one mail at a time.', link])
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
