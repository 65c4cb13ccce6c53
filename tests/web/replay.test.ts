import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadQuakes } from '../../functions/feeds/replay/load.ts'
import { quakesReplay } from '../../functions/feeds/replay/quakes.ts'
import { feedOf } from '../../functions/feeds/replay/replay.ts'
import { eventually, expectClean } from '../hub/web/browser.ts'
import type { Person } from '../support/service.ts'
import { type ServedConsole, serveConsole } from './console.ts'

let at: ServedConsole
let owner: Person

beforeAll(async () => {
  // A minute of the replay is a day and a half of the recorded week.
  const feed = feedOf(quakesReplay(await loadQuakes()), new Date(Date.now() - 60_000))
  at = await serveConsole({ feeds: [feed] })
  owner = await at.service.person()
  const zone = { label: 'California', lat: 36, lon: -119.5, radius_km: 550, min_severity: 20 }
  await at.service.request('POST', '/api/v1/zones', { key: owner.key, body: zone })
})
afterAll(() => at?.close())

test('an alert of the replay is in the inbox without a reload, and is resolved there with a note', async () => {
  const opened = await at.visit(owner, '/#/alerts')
  const { page } = opened
  await page.getByText('No alerts here').waitFor()
  let loads = 0
  page.on('load', () => {
    loads += 1
  })
  await at.jobs.drain()
  const lines = page.getByRole('button', { name: /REPLAY M \d.*California/ })
  await lines.first().waitFor()
  await lines.first().click()
  const title = await page.getByRole('heading', { level: 2 }).first().textContent()
  expect(title).toMatch(/^REPLAY M \d/)
  await page.getByLabel('Note').fill('Felt by nobody.')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The note is saved.').waitFor()
  await page.getByRole('button', { name: 'Resolve', exact: true }).click()
  await page.getByRole('button', { name: 'Reopen' }).waitFor()
  await eventually(async () => {
    const path = '/api/v1/alerts?resolved=true'
    const { body } = await at.service.request('GET', path, { key: owner.key })
    const { alerts } = body as { alerts: { note: string; event: { title: string } }[] } // safe: 200
    return alerts.map(({ note, event }) => [note, event.title])
  }).toEqual([['Felt by nobody.', title]])
  expect(loads).toBe(0)
  expectClean(opened)
})
