import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { everywhere } from '../../../../hub/db/db.ts'
import { MailSettings } from '../../../../hub/mail/settings.ts'
import { readToday, volumeOf } from '../../../../hub/mail/today.ts'
import { startHub, type TestHub } from '../../support/hub.ts'

let hub: TestHub
let draft_id = ''
let project_id = ''
beforeAll(async () => {
  hub = await startHub()
  const [draft] = await hub.query<{ id: string; project_id: string }>(
    `with project as (
       insert into hub.projects (slug, name) values ('demir', 'Demir') returning id
     )
     insert into hub.drafts (project_id, audience) select id, '{"kind": "list"}' from project
     returning id, project_id`,
  )
  draft_id = draft?.id ?? ''
  project_id = draft?.project_id ?? ''
})
afterAll(() => hub.close())
beforeEach(() => hub.query('delete from hub.recipients'))

const NOW = 'now()'
const MIDNIGHT = `date_trunc('day', now(), 'UTC')`

/** Mails that were claimed at a time, as SQL says it, and what became of them. */
async function claimed(count: number, at: string, given: string[] = []) {
  const fate = given.some((one) => one.startsWith('sender')) ? given : [...given, OURS]
  const columns = ['draft_id', 'project_id', 'email', 'state', 'claimed_at', ...fate.map(columnOf)]
  const values = fate.map((assignment) => assignment.split(' = ')[1])
  await hub.query(
    `insert into hub.recipients (${columns.join(', ')})
     select ${["$1, $2, gen_random_uuid() || '@x.example', 'sent'", at, ...values].join(', ')}
     from generate_series(1, $3)`,
    [draft_id, project_id, count],
  )
}
const columnOf = (assignment: string) => assignment.split(' = ')[0] ?? ''
const OURS = "sender = 'ada@demir.example'"
const BOUNCED = ["bounce = 'hard'", 'bounced_at = now()']
const SOFT = ["bounce = 'soft'", 'bounced_at = now()']
const COMPLAINED = ['complained_at = now()']

const today = (change: object = {}, since: string | null = null) =>
  everywhere(hub.deps.db, (sql) =>
    readToday(sql, MailSettings.parse({ daily_cap: 35, ramp: null, ...change }), {
      reason: null,
      detail: null,
      since,
    }),
  )

const SETTINGS = { daily_cap: 35, ramp: null }
const ramped = async (email: string) =>
  volumeOf(await today(), { daily_cap: 35, ramp: { start: 20, step: 10 } }, { email })

describe('what may still go out today', () => {
  test('is the cap less what was claimed since midnight UTC', async () => {
    await claimed(2, NOW)
    await claimed(3, MIDNIGHT)
    await claimed(4, `${MIDNIGHT} - interval '1 microsecond'`)
    await hub.query(
      `insert into hub.recipients (draft_id, project_id, email) values ($1, $2, 'waits@x.example')`,
      [draft_id, project_id],
    )
    expect(await today()).toMatchObject({ cap: 35, used: 5, left: 30 })
  })

  test('is never negative', async () => {
    await claimed(40, NOW)
    expect(await today()).toMatchObject({ used: 40, left: 0 })
    expect(await ramped('ada@demir.example')).toMatchObject({ used: 40, left: 0 })
  })

  test('grows with each day on which its sender sent, up to the daily limit', async () => {
    const ada = () => ramped('ada@demir.example')
    expect(await ada()).toMatchObject({ cap: 20, day: 1 })
    await claimed(1, NOW)
    expect(await ada()).toMatchObject({ cap: 20, left: 19, day: 1 })
    await claimed(1, MIDNIGHT)
    expect(await ada()).toMatchObject({ cap: 20 })
    await claimed(5, `${MIDNIGHT} - interval '2 hours'`)
    expect(await ada()).toMatchObject({ cap: 30, day: 2 })
    await claimed(5, `${MIDNIGHT} - interval '22 hours'`)
    expect(await ada()).toMatchObject({ cap: 30, day: 2 })
    await claimed(1, `${MIDNIGHT} - interval '40 days'`)
    expect(await ada()).toMatchObject({ cap: 35, day: 3 })
  })

  test('begins anew for another sender, and what all have left is for all', async () => {
    await claimed(5, `${MIDNIGHT} - interval '2 hours'`)
    await claimed(4, NOW)
    const bo = () => ramped('Bo@Demir.example')
    expect(await bo()).toEqual({ cap: 20, used: 0, left: 20, day: 1 })
    await claimed(3, NOW, ["sender = 'bo@demir.example'"])
    expect(await bo()).toEqual({ cap: 20, used: 3, left: 17, day: 1 })
    expect(await ramped('ada@demir.example')).toEqual({ cap: 30, used: 4, left: 26, day: 2 })
    // 35 a day for both.
    await claimed(20, NOW)
    expect(await bo()).toEqual({ cap: 20, used: 3, left: 8, day: 1 })
    // Without a ramp the daily limit alone counts.
    const all = await today()
    expect(volumeOf(all, SETTINGS, { email: 'bo@demir.example' })).toMatchObject({
      cap: 35,
      used: 27,
      left: 8,
    })
  })
})

describe('mail stops', () => {
  test('at more than 2 % of dead addresses, from the third on', async () => {
    await claimed(2, NOW, BOUNCED)
    await claimed(8, NOW)
    expect((await today()).alarm).toBeNull()
    await claimed(1, NOW, BOUNCED)
    await claimed(138, NOW)
    expect(await today()).toMatchObject({ sent: 149, hard_bounces: 3 })
    expect((await today()).alarm).toMatchObject({
      reason: 'bounces',
      detail: { en: expect.stringMatching(/\b3 of .*149.*2\.0 ?%/) },
    })
    await claimed(1, NOW)
    expect((await today()).alarm).toBeNull()
  })

  test('at more than one complaint in a thousand', async () => {
    await claimed(1, NOW, COMPLAINED)
    await claimed(998, NOW)
    expect(await today()).toMatchObject({ sent: 999, complaints: 1 })
    expect((await today()).alarm).toMatchObject({
      reason: 'complaints',
      detail: { en: expect.stringMatching(/\b1 of .*999/) },
    })
    await claimed(1, NOW)
    expect((await today()).alarm).toBeNull()
    await claimed(1, NOW, COMPLAINED)
    expect((await today()).alarm).toMatchObject({ reason: 'complaints' })
  })

  test('not for mailboxes that were full for a while', async () => {
    await claimed(10, NOW, SOFT)
    expect(await today()).toMatchObject({ hard_bounces: 0, alarm: null })
  })

  test('not for what is older than 30 days, or was confirmed since', async () => {
    await claimed(5, `now() - interval '30 days 1 hour'`, [
      "bounce = 'hard'",
      `bounced_at = now() - interval '30 days 1 hour'`,
    ])
    expect(await today()).toMatchObject({ sent: 0, hard_bounces: 0, alarm: null })
    await claimed(5, `now() - interval '29 days'`, [
      "bounce = 'hard'",
      `bounced_at = now() - interval '29 days'`,
    ])
    expect(await today()).toMatchObject({ sent: 5, hard_bounces: 5, alarm: { reason: 'bounces' } })
    const yesterday = new Date(Date.now() - 86_400_000).toISOString()
    expect(await today({}, yesterday)).toMatchObject({ sent: 0, hard_bounces: 0, alarm: null })
    // Confirming forgives, it does not look further back.
    const long_ago = new Date(Date.now() - 40 * 86_400_000).toISOString()
    expect(await today({}, long_ago)).toMatchObject({ sent: 5, hard_bounces: 5 })
  })

  test('not for mails from before it was confirmed, whose bounces and complaints come late', async () => {
    const since = new Date(Date.now() - 3_600_000).toISOString()
    await claimed(4, `now() - interval '2 hours'`, BOUNCED)
    await claimed(1, `now() - interval '2 hours'`, COMPLAINED)
    expect(await today()).toMatchObject({ alarm: { reason: 'complaints' } })
    expect(await today({}, since)).toMatchObject({ sent: 0, hard_bounces: 0, alarm: null })
    await claimed(1, NOW, COMPLAINED)
    expect(await today({}, since)).toMatchObject({ sent: 1, alarm: { reason: 'complaints' } })
  })

  test('for what came in the very moment in which it was confirmed', async () => {
    const since = new Date(Date.now() - 3_600_000).toISOString()
    const at = `'${since}'::timestamptz`
    await claimed(3, at, ["bounce = 'hard'", `bounced_at = ${at}`])
    await claimed(1, at, [`complained_at = ${at}`])
    expect(await today({}, since)).toMatchObject({ sent: 4, hard_bounces: 3, complaints: 1 })
  })
})
