import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestHub } from '../support/hub.ts'
import { leadCalls } from '../support/lead-calls.ts'
import { startLicensedHub } from '../support/licensed.ts'

let hub: TestHub
const { get, post, add } = leadCalls(() => hub)
beforeAll(async () => {
  hub = await startLicensedHub(['demir', 'veri'])
})
afterAll(() => hub.close())

const put = async (change: object, project = 'demir') => {
  const answer = await hub.call('PUT', 'deals/settings', { project, ...change })
  return { status: answer.status, body: await answer.json() }
}
const settings = async (project: string) =>
  (await get(`deals/settings?project=${project}`)).body.settings

describe('the settings of deals', () => {
  test('change by the field, and in one project alone', async () => {
    expect(await settings('demir')).toEqual({
      probabilities: {},
      won_reasons: [],
      lost_reasons: [],
    })
    const stored = {
      probabilities: { proposal: 40, won: 100, lost: 0 },
      won_reasons: ['Quality'],
      lost_reasons: ['Price'],
    }
    expect((await put(stored)).body.settings).toEqual(stored)
    const changes = [
      { won_reasons: ['Speed', 'Trust'] },
      { lost_reasons: [] },
      { probabilities: { meeting: 12.5 } },
    ]
    for (const change of changes) {
      Object.assign(stored, change)
      expect((await put(change)).body.settings).toEqual(stored)
      expect(await settings('demir')).toEqual(stored)
    }
    const other = { won_reasons: ['Other'] }
    expect((await put(other, 'veri')).body.settings).toMatchObject({ ...other, probabilities: {} })
    expect(await settings('demir')).toEqual(stored)
  })

  test('take reasons without the spaces around them', async () => {
    const { body } = await put({ lost_reasons: ['  No need '] })
    expect(body.settings.lost_reasons).toEqual(['No need'])
    const twenty = Array.from({ length: 20 }, (_, nth) => `Reason ${nth}`)
    expect((await put({ won_reasons: twenty })).body.settings.won_reasons).toEqual(twenty)
    const longest = 'x'.repeat(100)
    expect((await put({ won_reasons: [longest] })).body.settings.won_reasons).toEqual([longest])
  })

  test.each([
    [{ probabilities: { proposal: -1 } }, 'probabilities.proposal'],
    [{ probabilities: { proposal: 100.5 } }, 'probabilities.proposal'],
    [{ probabilities: { dreamt: 5 } }, 'probabilities.dreamt'],
    [{ won_reasons: ['Price', 'Price'] }, 'won_reasons'],
    [{ lost_reasons: ['Price', ' Price'] }, 'lost_reasons'],
    [{ lost_reasons: [' '] }, 'lost_reasons.0'],
    [{ lost_reasons: ['x'.repeat(101)] }, 'lost_reasons.0'],
    [{ won_reasons: Array.from({ length: 21 }, (_, nth) => `${nth}`) }, 'won_reasons'],
    [{ reasons: [] }, 'reasons'],
  ])('are not %j', async (change, path) => {
    const before = await settings('demir')
    const { status, body } = await put(change)
    expect([status, body.errors[0].path]).toEqual([422, path])
    expect(await settings('demir')).toEqual(before)
  })
})

test('sums have no cents of their own, no lead of another project, and no currency without an amount', async () => {
  await put({ probabilities: { proposal: 33, meeting: 0 } })
  await add({ name: 'Small', stage: 'proposal', amount: 0.07, currency: 'EUR' })
  await add({ name: 'No amount', stage: 'proposal', currency: 'USD' })
  await add({ name: 'Unlikely', stage: 'meeting', amount: 10, currency: 'EUR' })
  await add({ name: 'Elsewhere', stage: 'proposal', amount: 5, currency: 'EUR' }, 'veri')
  const { stages } = (await get('deals/sums?project=demir')).body
  const at = (stage: string) => stages.find((one: { stage: string }) => one.stage === stage)
  expect(at('proposal')).toMatchObject({
    leads: 2,
    without_amount: 1,
    sums: [{ currency: 'EUR', amount: 0.07, weighted: 0.02 }],
  })
  expect(at('meeting').sums).toEqual([{ currency: 'EUR', amount: 10, weighted: 0 }])
})

test('an outcome stays while other fields change, and goes when the deal is open again', async () => {
  const { id } = await add({ name: 'Lost', stage: 'proposal', amount: 5, currency: 'EUR' })
  const update = async (change: object) =>
    (await post('lead/update', { lead_id: id, ...change })).body.lead
  const outcome = { outcome_reason: 'Price', outcome_note: 'Too dear' }
  const lost = await update({ stage: 'lost', ...outcome })
  expect(lost.closed_at).not.toBeNull()
  const again = await update({ stage: 'lost', next_step: 'Ask again in May' })
  expect(again).toMatchObject({ ...outcome, closed_at: lost.closed_at })
  // Whichever statement reopens it, also with a note of its own.
  await hub.query(
    "update hub.leads set stage = 'meeting', outcome_reason = 'x', outcome_note = 'y' where id = $1",
    [id],
  )
  const { lead } = (await get(`lead/get?lead_id=${id}`)).body
  expect(lead).toMatchObject({ outcome_reason: null, outcome_note: null, closed_at: null })
  await expect(hub.query('update hub.leads set amount = -1 where id = $1', [id])).rejects.toThrow(
    'amount',
  )
})
