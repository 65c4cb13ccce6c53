import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { everywhere } from '../../../../hub/db/db.ts'
import { verbatim } from '../../../../hub/i18n/words.ts'
import { explainDraft, postponeDraft } from '../../../../hub/mail/drafts/holds.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import { apiOf, draftsOf, LEAD, setBrand, smtpSettings } from '../../support/mail-help.ts'

let hub: TestHub
let api: ReturnType<typeof apiOf>
let lead_id = ''
beforeAll(async () => {
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  const lead = { name: 'Jo Öz', email: 'jo@client.example', ...LEAD }
  lead_id = (await api.ok('lead/quick_add', { slug: 'demir', data: lead })).lead.id
})
afterAll(() => hub.close())
// Nobody listens there: in these tests nothing is sent.
beforeEach(async () => {
  await setBrand(api)
  await api.put('settings/mail', smtpSettings(9))
})

const { of, create } = draftsOf(() => ({ api, lead_id }))
async function draft(...names: string[]): Promise<string> {
  const id = await create()
  for (const name of names) await api.ok(`draft/${name}`, of(id))
  return id
}
const row = async (id: string) =>
  (
    await hub.query<{
      state: string
      retries: number
      paused_at: Date | null
      wait: number | null
    }>(
      `select state, retries, paused_at, extract(epoch from retry_at - now())::int as wait
       from hub.drafts where id = $1`,
      [id],
    )
  )[0]
const everywhereOf = <T>(work: Parameters<typeof everywhere<T>>[1]) => everywhere(hub.deps.db, work)

test.each(['push', 'send'])('%s waits until every gate is open', async (step) => {
  const id = await draft('render', 'approve', ...(step === 'send' ? ['push'] : []))
  const before = (await row(id))?.state
  await api.ok('settings/mail/pause')
  expect(await api.post(`draft/${step}`, of(id))).toMatchObject({
    status: 409,
    body: { code: 'conflict', errors: [{ path: 'gates.paused' }] },
  })
  expect((await row(id))?.state).toBe(before)
  await api.ok('settings/mail/confirm')
  await api.ok(`draft/${step}`, of(id))
  expect((await row(id))?.state).not.toBe(before)
})

describe('a draft that is being sent', () => {
  test('is paused since the first time, until it goes on', async () => {
    const id = await draft('render', 'approve', 'push', 'send', 'pause')
    const since = (await row(id))?.paused_at
    expect(since).toEqual(expect.any(Date))
    await api.ok('draft/pause', of(id))
    expect((await row(id))?.paused_at).toEqual(since)
    await api.ok('draft/resume', of(id))
    expect(await row(id)).toMatchObject({ state: 'sending', paused_at: null })
  })

  test('waits for a server twice as long each time, an hour at most', async () => {
    const id = await draft('render', 'approve', 'push', 'send')
    const waits: number[] = []
    for (let n = 0; n < 9; n += 1) {
      await everywhereOf((sql) =>
        postponeDraft(sql, id, { reason: verbatim('away'), first_seconds: 30 }),
      )
      waits.push(Math.round(((await row(id))?.wait ?? 0) / 10) * 10)
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600])
    await everywhereOf((sql) => explainDraft(sql, id, null))
    expect(await row(id)).toMatchObject({ retries: 0, wait: null })
  })

  test('goes on at once when somebody resumes it', async () => {
    const id = await draft('render', 'approve', 'push', 'send')
    await everywhereOf((sql) =>
      postponeDraft(sql, id, { reason: verbatim('away'), first_seconds: 30 }),
    )
    await api.ok('draft/pause', of(id))
    expect((await row(id))?.wait).toEqual(expect.any(Number))
    await api.ok('draft/resume', of(id))
    expect((await row(id))?.wait).toBeNull()
  })

  test('no longer waits once it has ended', async () => {
    const id = await draft('render', 'approve', 'push')
    await everywhereOf((sql) =>
      postponeDraft(sql, id, { reason: verbatim('away'), first_seconds: 30 }),
    )
    expect(await row(id)).toMatchObject({ state: 'pushed', retries: 0, wait: null })
  })
})

describe('the settings of mail', () => {
  test.each([
    ['daily_cap', { daily_cap: 0 }, { daily_cap: 1 }],
    ['daily_cap', { daily_cap: 100_001 }, { daily_cap: 100_000 }],
    ['ramp.start', { ramp: { start: 0, step: 1 } }, { ramp: { start: 1, step: 1 } }],
    ['ramp.step', { ramp: { start: 1, step: 10_001 } }, { ramp: { start: 1, step: 10_000 } }],
  ])('%s has limits: %j is refused, %j is not', async (path, beyond, within) => {
    expect(await api.put('settings/mail', beyond)).toMatchObject({
      status: 422,
      body: { errors: [{ path }] },
    })
    expect(await api.put('settings/mail', within)).toMatchObject({ status: 200 })
  })
})
