import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, expectAccessible, expectClean, expectNoSideways } from '../hub/web/browser.ts'
import { quake } from '../support/jobs.ts'
import { makeZone, type ServedConsole, serveConsole } from './console.ts'

/** What previews are asked of from now on, as the service is sent it. */
async function previews(page: Page): Promise<unknown[]> {
  const bodies: unknown[] = []
  await page.route('**/zones/preview?**', (route) => {
    bodies.push(route.request().postDataJSON())
    return route.continue()
  })
  return bodies
}

const PLACE = { lat: 41, lon: 29 }
let at: ServedConsole

beforeAll(async () => {
  at = await serveConsole()
})
afterAll(() => at?.close())

test('a zone is made with every rule; the preview follows, says what was kept back, and suggests a threshold', async () => {
  const owner = await at.service.person()
  await at.jobs.ingest(quake({ lat: 20, lon: 15, severity: 25 }))
  const opened = await at.visit(owner, '/#/zones/new')
  const { page } = opened
  await page.getByLabel('Name', { exact: true }).fill('Quay')
  await page.getByText('1 event inside raised none, by the rules of the zone.').waitFor()
  expect(await page.getByText('Not severe enough').isVisible()).toBe(true)
  await page.getByText('From severity 25 on, it would have alerted once.').waitFor()
  await page.getByRole('button', { name: 'Alert from 25' }).click()
  await page.getByText('1 alert', { exact: true }).waitFor()
  await page.getByText('More rules').click()
  await expectAccessible(page)
  const asked = await previews(page)
  await page.getByLabel('Severity multiplier').fill('2')
  await eventually(() => asked.at(-1)).toMatchObject({
    severity_multiplier: 2,
    icon: null,
    quiet_windows: null,
  })
  await page.getByLabel('An event counts when').selectOption('point')
  await page.getByLabel('Minutes that a vessel').fill('15')
  await page.getByLabel('Hourly limit of alerts').fill('3')
  await page.getByLabel('Leave out aftershocks').check()
  await page.getByLabel('Smaller than the mainshock').fill('1.5')
  await page.getByLabel('A colour of its own').check()
  await page.getByLabel('Colour', { exact: true }).fill('#112233')
  await page.getByRole('radio', { name: 'Harbour' }).check()
  await page.getByRole('button', { name: 'Create zone' }).click()
  await page.getByRole('heading', { name: 'Quay' }).waitFor()
  const find = async () => {
    const { body } = await at.service.request('GET', '/api/v1/zones', { key: owner.key })
    return (body as { zones: { label: string; [name: string]: unknown }[] }).zones[0] // safe: 200
  }
  expect(await find()).toMatchObject({
    label: 'Quay',
    min_severity: 25,
    severity_multiplier: 2,
    match: 'point',
    dwell_minutes: 15,
    max_alerts_per_hour: 3,
    aftershocks: { magnitude_gap: 1.5 },
    color: '#112233',
    icon: 'anchor',
    sources: null,
  })
  // A field that is wrong is shown, although it was folded away.
  const fold = page.locator('details', { hasText: 'More rules' })
  expect(await fold.getAttribute('open')).toBe(null)
  await page.getByText('More rules').click()
  await page.getByLabel('Severity multiplier').fill('9')
  await page.getByText('More rules').click()
  await page.getByRole('button', { name: 'Save' }).click()
  await eventually(() => fold.getAttribute('open')).toBe('')
  expect(await page.getByLabel('Severity multiplier').getAttribute('aria-invalid')).toBe('true')
  expect((await find())?.severity_multiplier).toBe(2)
  await expectNoSideways(page)
  expectClean(opened)
})

test('quiet windows of the API are named, previewed and kept', async () => {
  const owner = await at.service.person()
  const id = await makeZone(at, owner, { label: 'Depot', ...PLACE })
  const quiet_windows = [{ days: ['sat', 'sun'], start: '00:00', end: '12:00' }]
  const answer = await at.service.request('PATCH', `/api/v1/zones/${id}`, {
    key: owner.key,
    body: { quiet_windows },
  })
  expect(answer.status).toBe(200)
  const opened = await at.visit(owner, `/#/zones/${id}`)
  const { page } = opened
  await page.getByText('This zone has 1 quiet window that was set through the API.').waitFor()
  const asked = await previews(page)
  await page.getByLabel('Name', { exact: true }).fill('Depot 2')
  await page.getByText('More rules').click()
  await page.getByLabel('Minutes that a vessel').fill('5')
  await eventually(() => asked.at(-1)).toMatchObject({ dwell_minutes: 5, quiet_windows })
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  const after = await at.service.request('GET', `/api/v1/zones/${id}`, { key: owner.key })
  expect(after.body).toMatchObject({
    zone: { label: 'Depot 2', dwell_minutes: 5, quiet_windows },
  })
  expectClean(opened)
})
