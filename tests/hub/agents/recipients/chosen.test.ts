import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../../support/hub.ts'
import { compose, makeProject, reach } from '../../support/mission-help.ts'
import { type StubModel, startStubModel, useStub } from '../../support/stub-model.ts'

let hub: TestHub
let stub: StubModel
const ids: Record<string, string> = {}
beforeAll(async () => {
  stub = await startStubModel()
  hub = await startHub({ start: true })
  await makeProject(hub)
  await useStub(hub, stub)
  const people = [
    { name: 'Ali Kaya', company: 'Kaya A.Ş.', email: 'ali@kaya.example', tags: ['fair'] },
    {
      name: 'Hans Müller',
      company: 'Müller GmbH',
      email: 'hans@mueller.example',
      country: 'Germany',
    },
    { name: 'Ayşe Demir', company: 'Demir Lojistik', email: 'ayse@demir.example' },
    { name: 'Veli Can', company: 'Demir Lojistik', email: 'veli@demir.example' },
    { name: 'Иван Петров', company: 'Волга', email: 'ivan@volga.example' },
  ]
  for (const data of people) {
    const made = await hub.call('POST', 'lead/quick_add', { slug: 'rota', data })
    ids[data.email.split('@')[0] ?? ''] = (await made.json()).lead.id
  }
  await hub.query(
    `with other as (insert into hub.projects (slug, name) values ('other', 'Other') returning id)
     insert into hub.leads (project_id, name, email) select id, 'Other Person', 'other@other.example' from other`,
  )
}, 60_000)
afterAll(async () => {
  await hub?.close()
  await stub?.close()
})

async function preview(task: string, department = 'marketing', project = 'rota') {
  const answer = await hub.call('POST', 'mission/recipients', { task, department, project })
  expect(answer.status).toBe(200)
  return (await answer.json()).recipients
}

/** Writes to Hans and Ali as the steps of the mail flow do. */
async function sentTo(email: string, outcome: { replied?: boolean; stage?: string } = {}) {
  await hub.query(
    `with draft as (
       insert into hub.drafts (project_id, audience, template, language, subject, text)
       select project_id, jsonb_build_object('kind', 'lead', 'lead_id', id), 'letter', 'en', 'Hello', 'Hello'
       from hub.leads where email = $1 returning id, project_id
     )
     insert into hub.recipients (draft_id, project_id, lead_id, email, state, sent_at, replied_at)
     select draft.id, draft.project_id, leads.id, $1, 'sent', now(), case when $2 then now() end
     from draft, hub.leads where email = $1`,
    [email, outcome.replied ?? false],
  )
  await hub.query('update hub.leads set stage = $2 where email = $1', [
    email,
    outcome.stage ?? 'contacted',
  ])
}

describe('whom a task means', () => {
  test.each([
    ['Write to Hans', 'leads', ['hans']],
    ['mail to ali@kaya.example please', 'leads', ['ali']],
    ['HANS@MUELLER.example', 'leads', ['hans']],
    ['mail to ali@kaya.example and Hans', 'unclear', ['ali']],
    ['Write to Ali and Mert', 'unclear', ['ali']],
    ['Write to Demir Lojistik', 'unclear', ['ayse', 'veli']],
    ['Напишите письмо: Иван Петров', 'leads', ['ivan']],
    ['a mail to nobody@elsewhere.example', 'unclear', []],
    ['mail to ali@kaya.example, hans@mueller.example', 'leads', ['ali', 'hans']],
    ['mail to ali@kaya.example, nobody@elsewhere.example', 'unclear', []],
    ['mail to other@other.example', 'unclear', []],
    ['Write to Other Person', 'unclear', []],
  ] as const)('%s', async (task, kind, people) => {
    const found = await preview(task)
    expect(found.kind, found.because).toBe(kind)
    expect(found.leads.map(({ id }: { id: string }) => id).sort()).toEqual(
      people.map((name) => ids[name]).sort(),
    )
    expect(found.total).toBe(people.length)
  })

  test('addresses are repeated in the reason', async () => {
    const { because } = await preview('mail to ali@kaya.example, hans@mueller.example')
    expect(because).toMatch(
      /^The task names (?:ali@kaya|hans@mueller)\.example, \w+@\w+\.example\.$/,
    )
  })

  test('what a task is about may stand beside others, and need not be a lead', async () => {
    const beside = await preview('Look into ali@kaya.example and Hans', 'research')
    expect(beside.leads.map(({ id }: { id: string }) => id)).toEqual([ids.ali])
    const unknown = await preview('Look into nobody@elsewhere.example', 'research')
    expect(unknown.kind).not.toBe('unclear')
  })

  test('no name: the newest leads without a draft; no leads at all for other agents', async () => {
    const newest = await preview('Write a nice mail')
    expect(newest.kind).toBe('newest')
    expect(newest.leads).toHaveLength(3)
    expect(await preview('How many leads came in?', 'data')).toMatchObject({
      kind: 'none',
      total: 0,
    })
    expect(await preview('Write a nice mail', 'research')).toMatchObject({ kind: 'none' })
  })

  test('who answers for one lead asks for one, and for no group', async () => {
    expect(await preview('call script for Hans and Ali', 'sales')).toMatchObject({
      kind: 'unclear',
      because: expect.stringContaining('one lead at a time'),
      total: 2,
    })
    expect(await preview('call script for those who did not answer', 'sales')).toMatchObject({
      kind: 'unclear',
      filter: null,
      because: expect.stringContaining('not on a group'),
    })
  })

  test('a group is counted as a campaign would reach it', async () => {
    expect(await preview('Write to the leads tagged fair')).toMatchObject({
      kind: 'filter',
      filter: { tag: 'fair' },
      total: 1,
      leads: [{ email: 'ali@kaya.example' }],
    })
    expect(await preview('Write to all leads in Germany')).toMatchObject({
      kind: 'filter',
      filter: { country: 'Germany' },
      total: 1,
    })
  })

  test('who did not answer was written to, has not replied in any way, and is not lost', async () => {
    const did = 'Thank those who replied'
    const didNot = 'Write to those who did not answer'
    expect(await preview(didNot)).toMatchObject({ filter: { answered: false }, total: 0 })
    await sentTo('hans@mueller.example')
    await sentTo('ali@kaya.example', { replied: true })
    await sentTo('ayse@demir.example', { stage: 'meeting' })
    await sentTo('veli@demir.example', { stage: 'lost' })
    const open = await preview(didNot)
    expect(open.leads.map(({ email }: { email: string }) => email)).toEqual([
      'hans@mueller.example',
    ])
    const answered = await preview(did)
    expect(answered.leads.map(({ email }: { email: string }) => email)).toEqual([
      'ali@kaya.example',
      'ayse@demir.example',
    ])
  })
})

describe('a mission', () => {
  const fails = async (task: string, department: string, input?: Record<string, unknown>) => {
    const mission = await reach(hub, await compose(hub, department, task, input))
    expect(mission.status, mission.reason ?? '').toBe('failed')
    return mission.reason
  }

  test('whose words fit two leads makes nothing and names both', async () => {
    const reason = await fails('Write to Demir Lojistik', 'marketing')
    expect(reason).toContain('fits 2 leads')
    expect(reason).toContain('Ayşe Demir, Demir Lojistik, ayse@demir.example')
    expect(reason).toContain('Veli Can')
    expect(await hub.query("select from hub.drafts where agent = 'marketing'")).toEqual([])
  })

  test('for leads of another project, or of none, makes nothing', async () => {
    const [other] = await hub.query<{ id: string }>(
      "select id from hub.leads where email = 'other@other.example'",
    )
    expect(await fails('Write', 'marketing', { lead_ids: [other?.id] })).toContain(
      'no longer exists in this project',
    )
    const two = [ids.hans, ids.ali]
    expect(await fails('call script', 'sales', { lead_ids: two })).toContain('one lead at a time')
    expect(await fails('call script', 'sales', { filter: {} })).toContain('not on a group')
  })

  test('for more leads than single mails becomes one campaign to all of them', async () => {
    const chosen = Object.values(ids)
    for (const n of [1, 2]) {
      const data = { name: `Extra ${n}`, email: `extra${n}@extra.example` }
      const made = await hub.call('POST', 'lead/quick_add', { slug: 'rota', data })
      chosen.push((await made.json()).lead.id)
    }
    stub.script(() => ({
      subject: 'Hello there',
      sentences: [
        { text: 'Shall we talk next week?', cites: ['none'] },
        { text: 'May I send you more?', cites: ['none'] },
      ],
      template: 'newsletter',
      preheader: 'Hello there',
      headline: 'Hello there',
      highlight: [],
    }))
    const mission = await reach(hub, await compose(hub, 'marketing', 'Write', { lead_ids: chosen }))
    expect(mission.status, mission.reason ?? '').toBe('done')
    const drafts = await hub.query<{ audience: { filter: { lead_ids: string[] } } }>(
      'select audience from hub.drafts where id = any($1)',
      [mission.result?.drafts],
    )
    expect(drafts).toHaveLength(1)
    expect(drafts[0]?.audience.filter.lead_ids.sort()).toEqual(chosen.sort())
  })

  const WRITTEN = {
    subject: 'Hello there',
    sentences: [
      { text: 'Shall we talk next week?', cites: ['none'] },
      { text: 'May I send you more?', cites: ['none'] },
    ],
    template: 'newsletter',
    preheader: 'Hello there',
    headline: 'Hello there',
    highlight: [],
  }
  let left_out: unknown
  type Made = { language: string; audience: { filter: { tag: string; lead_ids?: string[] } } }

  /** The drafts of a mission, the first one first. */
  async function made(task: string): Promise<Made[]> {
    stub.script(() => WRITTEN)
    const mission = await reach(hub, await compose(hub, 'marketing', task))
    expect(mission.status, mission.reason ?? '').toBe('done')
    left_out = mission.left_out
    return hub.query<Made>(
      'select language, audience from hub.drafts where id = any($1) order by created_at, id',
      [mission.result?.drafts],
    )
  }

  test('for a group of two languages says so before, and makes a campaign for each', async () => {
    const own: Record<string, string[]> = { tr: [], en: [] }
    const readers = [
      { country: 'Türkiye' },
      { country: 'TR' },
      { country: 'Germany', language: 'tr' },
      { country: 'Türkiye', language: 'de' },
      {},
    ]
    for (const [n, reader] of readers.entries()) {
      const data = { name: `Spoken ${n}`, email: `spoken${n}@spoken.example`, tags: ['spoken'] }
      const quick = { slug: 'rota', data: { ...data, ...reader } }
      const { lead } = await (await hub.call('POST', 'lead/quick_add', quick)).json()
      own[n < 3 ? 'tr' : 'en']?.push(lead.id)
    }
    const other =
      'The hub writes English and Turkish; leads with another language get English: German (1).'
    const task = 'Write to people tagged spoken'
    expect((await preview(task)).spoken).toBe(`3 in Turkish, 2 in English. ${other}`)
    expect((await preview(`${task}, in English`)).spoken).toBeNull()
    expect((await preview('Write to people tagged fair')).spoken).toBeNull()
    expect((await preview(`Plan a sequence of 3 mails for people tagged spoken`)).spoken).toContain(
      'a sequence has one, here English',
    )
    const drafts = await made(task)
    expect(left_out).toEqual([other])
    expect(
      drafts.map(({ language, audience: { filter } }) => [language, filter.lead_ids?.toSorted()]),
    ).toEqual([
      ['tr', own.tr?.toSorted()],
      ['en', own.en?.toSorted()],
    ])
    const [{ mission_id } = { mission_id: '' }] = await hub.query<{ mission_id: string }>(
      "select mission_id from hub.drafts where audience -> 'filter' ->> 'tag' = 'spoken' limit 1",
    )
    const shorter = await hub.call('POST', 'mission/recipients', {
      task: 'Shorter',
      department: 'marketing',
      project: 'rota',
      continues: mission_id,
    })
    expect((await shorter.json()).recipients).toMatchObject({
      kind: 'filter',
      total: 5,
      spoken: `3 in Turkish, 2 in English. ${other}`,
    })
    const whole = await made(`${task}, in English`)
    expect(left_out).toEqual([])
    expect(whole).toEqual([
      { language: 'en', audience: { kind: 'list', filter: { tag: 'spoken' } } },
    ])
  })

  test('for a group that reads one language is written in it, and stays one group', async () => {
    const places = [{ country: 'Türkiye' }, { country: 'Germany', language: 'tr' }]
    for (const [n, place] of places.entries()) {
      const data = { name: `One ${n}`, email: `one${n}@one.example`, tags: ['one'], ...place }
      await hub.call('POST', 'lead/quick_add', { slug: 'rota', data })
    }
    expect((await preview('Write to people tagged one')).spoken).toBeNull()
    expect(await made('Write to people tagged one')).toEqual([
      { language: 'tr', audience: { kind: 'list', filter: { tag: 'one' } } },
    ])
    // A letter and a sequence, too.
    expect(await made('Write to One 1')).toMatchObject([{ language: 'tr' }])
    expect(await made('Write to One 1 in English')).toMatchObject([{ language: 'en' }])
    expect(await made('Plan a sequence of 2 mails for people tagged one')).toEqual([])
    expect(await hub.query('select language from hub.sequences')).toEqual([{ language: 'tr' }])
  })
})
