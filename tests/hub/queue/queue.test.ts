import { beforeAll, describe, expect, test } from 'vitest'
import { LEAD, smtpSettings } from '../support/mail-help.ts'
import { standForAll } from '../support/stand.ts'
import { api, hub, of, prospect, smtp, useQueue } from './queue-scene.ts'

useQueue()
beforeAll(() =>
  api.put('settings/mail', { ...smtpSettings(smtp.port), test_email: 'ayse@demir.example' }),
)

let people = 0
async function rendered(more: { subject?: string; text?: string; audience?: object } = {}) {
  people += 1
  const data = { name: `Reader${people}`, email: `reader${people}@client.example`, ...LEAD }
  const { lead } = await api.ok('lead/quick_add', { slug: 'demir', data })
  const { draft } = await api.ok('draft/create', {
    project: 'demir',
    audience: { kind: 'lead', lead_id: lead.id },
    subject: `A question ${people}`,
    text: 'Hello {first_name},\n\nwould you like to talk next week?',
    ...more,
  })
  await api.ok('draft/render', of(draft.id))
  await standForAll(api, of(draft.id))
  return { id: draft.id as string, lead }
}
const stateOf = async (id: string) =>
  (await api.get(`drafts/get?id=${id}&project=demir`)).body.draft.state
const decide = async (ids: string[], send: boolean) => {
  const drafts = await Promise.all(ids.map(async (id) => ({ id, hash: (await prospect(id)).hash })))
  return (await api.ok('queue/approve', { project: 'demir', drafts, send })).outcomes
}

describe('the queue', () => {
  test('holds drafts, sequences, actions and improvements, the longest waiting first, batches together', async () => {
    const first = await rendered({ subject: 'Freight' })
    const between = await rendered()
    const second = await rendered({ subject: 'Freight' })
    const sequences = await hub.query<{ id: string }>(
      `insert into hub.sequences (project_id, name, state, send_window, updated_at)
       select id, state, state, '{"days": [1], "from": "09:00", "to": "17:00", "time_zone": "UTC"}', now()
       from hub.projects, unnest(array['draft', 'running', 'paused', 'done', 'stopped']) as state
       returning id, state`,
    )
    await hub.query(
      `insert into hub.approvals (project_id, kind, title, action, action_hash, created_at)
       select id, kind, '{"en": "Do it", "tr": "Yap"}', '{"do": "x"}', 'x', now() + n * interval '1 ms'
       from hub.projects, unnest(array['external', 'prompt']) with ordinality as kinds (kind, n)`,
    )
    const { items, total } = (await api.get('queue/list?project=demir')).body
    expect(
      items.map(({ kind, id }: { kind: string; id: string }) => (kind === 'draft' ? id : kind)),
    ).toEqual([first.id, second.id, between.id, 'sequence', 'action', 'improvement'])
    expect(total).toBe(6)
    expect(items[3]).toMatchObject({ id: sequences[0]?.id, title: 'draft', who: null, batch: null })
    await hub.query('delete from hub.sequences')
    expect(items[0]).toMatchObject({ who: 'Reader1', batch: { size: 2 }, title: 'Freight' })
    expect(items[2]).toMatchObject({ batch: null })

    const { drafts } = (await api.get(`queue/batch?key=${items[0].batch.key}&project=demir`)).body
    expect(drafts).toMatchObject([
      {
        id: first.id,
        can_send: true,
        pieces: expect.arrayContaining([
          { text: expect.stringContaining('Reader1'), is_common: false },
        ]),
      },
      { id: second.id },
    ])
    const common = drafts.map(({ pieces }: { pieces: { text: string; is_common: boolean }[] }) =>
      pieces
        .filter(({ is_common }) => is_common)
        .map(({ text }) => text.trim())
        .join(' '),
    )
    expect(common[0]).toContain('would you like to talk next week?')
    expect(common[0]).toBe(common[1])
    const shown = drafts.map(({ id, hash }: { id: string; hash: string }) => ({ id, hash }))
    // One of them is written again after it was shown.
    await api.ok('draft/edit', { ...of(second.id), text: 'Something else?' })
    await api.ok('draft/render', of(second.id))
    await standForAll(api, of(second.id))
    const { outcomes } = await api.ok('queue/approve', { project: 'demir', drafts: shown })
    expect(outcomes).toMatchObject([
      { id: first.id, outcome: 'approved', detail: null },
      { id: second.id, outcome: 'refused', detail: expect.any(String) },
    ])
    expect([await stateOf(first.id), await stateOf(second.id)]).toEqual(['approved', 'rendered'])
  })
})

describe('approving and sending in one step', () => {
  test('says what happens, and does it', async () => {
    const { id, lead } = await rendered()
    expect(await prospect(id)).toMatchObject({
      what: `Send to ${lead.name}, 1 today`,
      recipients: 1,
      today: 1,
      can_send: true,
      closed: [],
    })
    expect(await decide([id], true)).toEqual([{ id, outcome: 'sending', detail: null }])
    await hub.deps.mailer.run()
    expect(smtp.to()).toContain(lead.email)
    expect(await stateOf(id)).toBe('sent')
    // The same hash does nothing twice.
    expect(await decide([id], true)).toMatchObject([{ outcome: 'refused' }])
  })

  test('counts a list, with the days that the limit makes of it', async () => {
    await api.put('settings/mail', { daily_cap: 3 })
    const { id } = await rendered({ audience: { kind: 'list', filter: {} } })
    const { what, recipients, today } = await prospect(id)
    expect(what).toMatch(/^Send to \d+ people on list Demir, \d+ today, done in \d+ days/)
    expect(today).toBeLessThan(recipients)
    await api.put('settings/mail', { daily_cap: 10_000 })
  })

  test('where a gate is closed nothing is approved, and approving alone is offered', async () => {
    const { id } = await rendered()
    await api.ok('settings/mail/pause')
    const closed = await prospect(id)
    expect(closed).toMatchObject({ can_send: false, closed: [{ name: expect.any(String) }] })
    expect(await decide([id], true)).toMatchObject([
      { outcome: 'refused', detail: expect.stringContaining('cannot be sent') },
    ])
    expect(await stateOf(id)).toBe('rendered')
    expect(await decide([id], false)).toMatchObject([{ outcome: 'approved' }])
    await api.ok('settings/mail/confirm')
  })
})

describe('a test mail', () => {
  test('goes to oneself alone, marked, and counts nowhere', async () => {
    const { id } = await rendered()
    const counted = () => hub.query('select count(*)::int as n from hub.recipients')
    const before = await counted()
    const { used_today } = (await api.get('settings/mail')).body.state
    expect(await api.ok('draft/test', of(id))).toEqual({ to: 'ayse@demir.example' })
    const mail = smtp.mails.at(-1)
    expect(smtp.to().at(-1)).toBe('ayse@demir.example')
    expect(mail?.subject).toMatch(/^\[Test\] /)
    expect(mail?.headers.has('list-unsubscribe')).toBe(false)
    expect(mail?.text).toContain('/api/cockpit/u/test')
    const page = await hub.app.request('/api/cockpit/u/test', { headers: { host: 'localhost' } })
    expect(await page.text()).toContain('unsubscribes nobody')
    expect(await counted()).toEqual(before)
    expect((await api.get('settings/mail')).body.state.used_today).toBe(used_today)
    expect(await stateOf(id)).toBe('rendered')
  })

  test('never goes to the address of a lead', async () => {
    const { id, lead } = await rendered()
    await api.put('settings/mail', { test_email: lead.email.toUpperCase() })
    const taken = smtp.mails.length
    expect(await api.post('draft/test', of(id))).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('belongs to a lead') },
    })
    await api.put('settings/mail', { test_email: null })
    expect(await api.post('draft/test', of(id))).toMatchObject({ status: 409 })
    expect(smtp.mails).toHaveLength(taken)
    await api.put('settings/mail', { test_email: 'ayse@demir.example' })
  })

  test('ten an hour', async () => {
    const { id } = await rendered()
    const taken = smtp.mails.length
    const answers = []
    for (let at = 0; at < 12; at += 1) answers.push((await api.post('draft/test', of(id))).status)
    expect(answers.filter((status) => status === 429).length).toBeGreaterThanOrEqual(2)
    expect(smtp.mails.length - taken).toBeLessThanOrEqual(10)
  })
})
