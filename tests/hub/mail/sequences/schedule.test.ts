import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { everywhere } from '../../../../hub/db/db.ts'
import { fromOf } from '../../../../hub/mail/brand/brand.ts'
import { brandOf } from '../../../../hub/mail/brand/brand-of.ts'
import { readRefusals } from '../../../../hub/mail/opt-outs.ts'
import { hadIt, sequencePeople } from '../../../../hub/mail/sequences/people.ts'
import { scheduleSequences } from '../../../../hub/mail/sequences/schedule.ts'
import { senderHash } from '../../../../hub/mail/sequences/thread.ts'
import { readMail } from '../../../../hub/mail/settings.ts'
import { startLicensedHub } from '../../support/licensed.ts'
import { apiOf, setBrand, smtpSettings } from '../../support/mail-help.ts'
import { ALWAYS } from './sequence-help.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
let project_id = ''
let sender_hash = ''
beforeAll(async () => {
  hub = await startLicensedHub(['demir', 'veri'])
  project_id = hub.ids.demir ?? ''
  await setBrand(apiOf(hub))
  await apiOf(hub).put('settings/mail', smtpSettings(25))
  const { db, config } = hub.deps
  const brand = await everywhere(db, (sql) => brandOf(sql, config, { id: project_id }))
  sender_hash = senderHash(fromOf(brand), await readMail(config.paths))
})
afterAll(() => hub.close())
beforeEach(async () => {
  for (const table of ['drafts', 'sequences', 'leads']) await hub.query(`delete from hub.${table}`)
})

async function insert(table: string, row: Record<string, unknown>): Promise<string> {
  const names = Object.keys(row)
  const [made] = await hub.query<{ id: string }>(
    `insert into hub.${table} (${names.join(', ')})
     values (${names.map((_, at) => `$${at + 1}`).join(', ')}) returning *`,
    Object.values(row),
  )
  return made?.id ?? ''
}
const sequence = (more: object = {}) =>
  insert('sequences', {
    project_id,
    name: 'Three questions',
    state: 'running',
    send_window: JSON.stringify(ALWAYS),
    approved: JSON.stringify({ sender_hash }),
    approved_at: new Date(),
    started_at: new Date(),
    ...more,
  })
const step = (sequence_id: string, nth: number, wait_days: number) =>
  insert('drafts', {
    project_id,
    sequence_id,
    step: nth,
    wait_days,
    state: 'sending',
    audience: '{"kind": "list", "filter": {}}',
  })
const member = (sequence_id: string, name: string, more: object = {}) =>
  insert('sequence_recipients', {
    sequence_id,
    project_id,
    email: `${name}@x.example`,
    time_zones: ['UTC'],
    ...more,
  })
const mail = (draft_id: string, name: string, state: string, more: object = {}) =>
  insert('recipients', { project_id, draft_id, email: `${name}@x.example`, state, ...more })
const lead = (name: string, more: object = {}) =>
  insert('leads', {
    project_id,
    name,
    email: `${name}@x.example`,
    source: 'fair.csv',
    lawful_basis: 'consent',
    ...more,
  })
const ago = (days: number) => new Date(Date.now() - days * 86_400_000)

describe('a running sequence moves on', () => {
  const lines: Record<string, unknown>[] = []
  const schedule = async () => {
    lines.length = 0
    const { config, db } = hub.deps
    await scheduleSequences({ config, db, log: (line) => void lines.push(line) })
  }
  const mails = async () =>
    Object.fromEntries(
      (
        await hub.query<{ name: string; state: string; days: number | null }>(
          `select split_part(mail.email, '@', 1) || step.step as name, mail.state,
             round(extract(epoch from mail.due_at - now()) / 86400)::int as days
           from hub.recipients as mail join hub.drafts as step on step.id = mail.draft_id`,
        )
      ).map(({ name, state, days }) => [name, [state, days]]),
    )
  const people = async () =>
    Object.fromEntries(
      (
        await hub.query<{ name: string; state: string; why: string | null; detail: string | null }>(
          `select split_part(email, '@', 1) as name, state, stop_reason as why,
             stop_detail ->> 'en' as detail from hub.sequence_recipients`,
        )
      ).map(({ name, ...rest }) => [name, rest]),
    )
  const stateOf = async (id: string) =>
    (await hub.query('select state from hub.sequences where id = $1', [id]))[0]?.state

  test('by the next mail of each, whose time is found once its last one is there', async () => {
    const id = await sequence()
    const [one, two, three] = [await step(id, 1, 0), await step(id, 2, 3), await step(id, 3, 3)]
    for (const name of ['new', 'begun', 'old', 'away', 'held', 'late', 'open'])
      await member(id, name)
    await hub.query(
      "update hub.sequence_recipients set wait_until = now() + interval '5 days' where email like 'away%'",
    )
    const sent = (days: number) => ({ sent_at: ago(days), claimed_at: ago(days) })
    await mail(one, 'new', 'waiting')
    await mail(two, 'new', 'waiting')
    await mail(one, 'begun', 'sent', sent(0))
    await mail(two, 'begun', 'waiting')
    await mail(one, 'old', 'sent', sent(9))
    await mail(two, 'old', 'waiting')
    await member(id, 'third')
    await mail(one, 'third', 'sent', sent(9))
    await mail(two, 'third', 'sent', sent(0))
    await mail(three, 'third', 'waiting')
    await mail(one, 'away', 'waiting')
    await mail(one, 'held', 'pushed', { due_at: ago(-2), due_until: ago(-3) })
    await mail(one, 'late', 'pushed', { due_at: ago(2), due_until: ago(1) })
    await mail(one, 'open', 'unclear')
    await mail(two, 'open', 'waiting')
    await schedule()
    const { away1, begun2, third3, ...rest } = await mails()
    expect(rest).toEqual({
      new1: ['pushed', 0],
      new2: ['waiting', null],
      begun1: ['sent', null],
      third1: ['sent', null],
      third2: ['sent', null],
      old1: ['sent', null],
      old2: ['pushed', 0],
      held1: ['pushed', 2],
      late1: ['pushed', 0],
      open1: ['unclear', null],
      open2: ['waiting', null],
    })
    // The days are whole ones, from midnight.
    expect([4, 5]).toContain(away1?.[1])
    expect([2, 3]).toContain(begun2?.[1])
    expect([2, 3]).toContain(third3?.[1])
    expect(lines).toEqual([])
    expect(await stateOf(id)).toBe('running')
  })

  test('and lets go who has had all, or must not get more', async () => {
    const id = await sequence()
    const one = await step(id, 1, 0)
    for (const name of ['done', 'failed', 'skipped', 'waits']) await member(id, name)
    const reason = JSON.stringify({ en: 'No such box.', tr: 'Kutu yok.' })
    await mail(one, 'done', 'sent', { sent_at: ago(0) })
    await mail(one, 'failed', 'failed', { reason })
    await mail(one, 'skipped', 'skipped', { reason })
    await mail(one, 'waits', 'waiting')
    await schedule()
    const nothing = { why: null, detail: null }
    expect(await people()).toEqual({
      done: { state: 'done', ...nothing },
      failed: { state: 'stopped', why: 'failed', detail: 'No such box.' },
      skipped: { state: 'stopped', why: 'left_out', detail: 'No such box.' },
      waits: { state: 'active', ...nothing },
    })
    expect([await stateOf(id), lines]).toEqual(['running', []])
    await hub.query("update hub.recipients set state = 'sent' where email like 'waits%'")
    await schedule()
    expect([await stateOf(id), lines]).toEqual([
      'done',
      [{ msg: 'sequence done', sequence_id: id }],
    ])
  })

  test('only while its sender is the one that was approved', async () => {
    const id = await sequence({ approved: JSON.stringify({ sender_hash: 'another' }) })
    await mail(await step(id, 1, 0), 'new', 'waiting')
    await member(id, 'new')
    await schedule()
    expect(lines).toEqual([{ msg: 'sequence must be approved again', sequence_id: id }])
    expect(await stateOf(id)).toBe('draft')
    expect(await mails()).toEqual({})
    await schedule()
    expect(lines).toEqual([])
  })

  test.each(['draft', 'paused', 'done', 'stopped'])('and none that is %s', async (state) => {
    const id = await sequence({ state })
    await mail(await step(id, 1, 0), 'new', 'waiting')
    await member(id, 'new')
    await schedule()
    expect([await stateOf(id), await mails()]).toEqual([state, { new1: ['waiting', null] }])
  })
})

describe('who a sequence is for', () => {
  const found = async (id: string, filter: object = {}, of = project_id) => {
    const refusals = await readRefusals(hub.config.paths)
    const given = { id, project_id: of, filter, send_window: ALWAYS } as never // safe: a row of it
    return everywhere(hub.deps.db, (sql) =>
      sequencePeople(sql, { sequence: given, refusals, written: [] }),
    )
  }
  const shown = async (...given: Parameters<typeof found>) =>
    Object.fromEntries(
      (await found(...given)).people.map((one) => [
        one.email.split('@')[0],
        [one.left_out?.en ?? null, one.is_in, one.had],
      ]),
    )
  const HAD = 'was in this sequence before'

  test('are the leads of its filter, but those who were in it, are in another, or may get none', async () => {
    const [id, other] = [await sequence(), await sequence({ name: 'Another' })]
    for (const name of ['new', 'busy', 'free', 'left', 'back']) await lead(name, { tags: ['vip'] })
    await lead('basis', { tags: ['vip'], lawful_basis: null })
    await lead('else')
    await lead('none', { tags: ['vip'], email: null })
    await member(other, 'busy')
    await member(other, 'free', { state: 'done' })
    await member(other, 'left')
    await member(id, 'left', { state: 'stopped', stop_reason: 'replied' })
    await member(id, 'back', { state: 'stopped', stop_reason: 'left_out' })
    expect(await shown(id, { tag: 'vip' })).toEqual({
      new: [null, false, 0],
      busy: ['is in the running sequence “Another”', false, 0],
      free: [null, false, 0],
      left: [HAD, false, 0],
      back: [null, false, 0],
      basis: [expect.stringMatching(/basis/), false, 0],
    })
    const { people, without_email, gone } = await found(id, { tag: 'vip' })
    expect([without_email, gone]).toEqual([1, []])
    expect(people.filter(hadIt).map(({ email }) => email)).toEqual(['left@x.example'])
    expect(people.map(({ other }) => other).filter(Boolean)).toEqual(['Another'])
  })

  test('are also those who are in it, with what they have had', async () => {
    const id = await sequence()
    const [one, two, three] = [await step(id, 1, 0), await step(id, 2, 3), await step(id, 3, 3)]
    const wait_until = ago(-5)
    await member(id, 'in', { lead_id: await lead('in'), wait_until })
    const sent = { claimed_at: ago(2), sent_at: ago(2) }
    await mail(one, 'in', 'sent', { claimed_at: ago(8), sent_at: ago(8) })
    await mail(two, 'in', 'sent', sent)
    await mail(three, 'in', 'waiting')
    // Left out after a mail, and gone to another address.
    await member(id, 'out', {
      lead_id: await lead('out'),
      state: 'stopped',
      stop_reason: 'left_out',
    })
    await mail(one, 'out', 'sent', sent)
    const moved = await lead('moved')
    await member(id, 'old', { lead_id: moved, state: 'done' })
    await mail(one, 'old', 'sent', sent)
    const unsent = await lead('unsent')
    await member(id, 'unsent-old', { lead_id: unsent, state: 'done' })
    await member(id, 'gone')
    const { people, gone } = await found(id, { tag: 'nobody' })
    expect(people).toMatchObject([
      { email: 'in@x.example', left_out: null, is_in: true, had: 2, time_zones: ['UTC'] },
    ])
    expect(new Date(people[0]?.last_sent_at ?? 0)).toEqual(sent.sent_at)
    expect(new Date(people[0]?.wait_until ?? 0)).toEqual(wait_until)
    expect(gone).toEqual(['gone@x.example'])
    expect(await shown(id)).toEqual({
      in: [null, true, 2],
      out: [HAD, false, 1],
      moved: [HAD, false, 0],
      unsent: [null, false, 0],
    })
  })

  test('are of its project, where another project’s sequence keeps nobody out', async () => {
    const id = await sequence()
    await lead('one')
    await lead('two', { project_id: hub.ids.veri })
    const theirs = await sequence({ project_id: hub.ids.veri })
    await member(theirs, 'one', { project_id: hub.ids.veri })
    expect(await shown(id)).toEqual({ one: [null, false, 0] })
  })

  test('have the time zone of their list, their country or the window', async () => {
    const id = await sequence()
    const own = await lead('own', { country: 'Germany' })
    const land = await lead('land', { country: 'Germany' })
    await lead('none')
    const told = (lead_id: string, import_column: string) =>
      insert('evidence', {
        project_id,
        lead_id,
        fact: `${import_column}: Asia/Tokyo`,
        source: 'list.csv',
        import_column,
      })
    await told(land, 'Wishes to see')
    await told(own, 'Time zone')
    for (const [at, column] of [
      'timezone',
      ' TIME_ZONE ',
      'Saat dilimi',
      'zaman dilimi',
      'Zeitzone',
    ].entries())
      await told(await lead(`own${at}`), column)
    const zones = (await found(id)).people.map(({ source, time_zones }) => [source, time_zones])
    expect(zones).toEqual([
      ['country', ['Europe/Berlin']],
      ['project', ['UTC']],
      ...Array.from({ length: 6 }, () => ['lead', ['Asia/Tokyo']]),
    ])
  })

  test('are counted and named in the check, five of each kind that is kept out', async () => {
    const id = await sequence({ state: 'draft', approved: null, approved_at: null })
    await hub.query("update hub.drafts set state = 'draft'")
    await insert('drafts', {
      project_id,
      sequence_id: id,
      step: 1,
      wait_days: 0,
      subject: 'A question',
      text: 'Hello',
      audience: '{"kind": "list", "filter": {}}',
    })
    const check = async () => {
      const answer = await hub.call('GET', `sequences/get?id=${id}&project=demir`)
      const { gates } = await answer.json()
      return gates.find(({ name }: { name: string }) => name === 'recipients')
    }
    const other = await sequence({ name: 'Another' })
    for (let nth = 1; nth <= 7; nth += 1) {
      await lead(`busy${nth}`)
      await member(other, `busy${nth}`)
    }
    expect(await check()).toMatchObject({
      ok: false,
      blocks: true,
      detail: expect.stringMatching(
        /^0 of 7 people will get it\. In the running sequence “Another” and left out: busy1, busy2, busy3, busy4, busy5 and 2 more\. Nobody is left\.$/,
      ),
      way_out: 'Choose other recipients.',
    })
    await lead('none', { email: null })
    await lead('new', { name: null })
    await lead('had', { name: null })
    await member(id, 'had', { state: 'stopped', stop_reason: 'replied' })
    await hub.query("delete from hub.leads where name > 'busy2'")
    expect(await check()).toMatchObject({
      ok: true,
      detail:
        '1 of 4 people will get it. In the running sequence “Another” and left out: busy1, busy2. In this sequence before and left out: had@x.example.',
    })
  })
})
