import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, expectAccessible, expectClean, expectNoSideways } from '../hub/web/browser.ts'
import { quake } from '../support/jobs.ts'
import { makeChannel, makeZone, type ServedConsole, serveConsole } from './console.ts'

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

const WINDOWS = [
  { days: ['mon', 'tue', 'wed', 'thu'], start: '22:00', end: '07:00' },
  { days: ['fri'], start: '22:00', end: '24:00' },
  { days: ['sat', 'sun'], start: '00:00', end: '12:00' },
]

test('several quiet windows and escalation steps are shown, changed by keyboard, refused at their field, and none is lost', async () => {
  const owner = await at.service.person()
  const id = await makeZone(at, owner, { label: 'Depot', ...PLACE })
  const first = await makeChannel(at, owner, { label: 'On call' })
  const second = await makeChannel(at, owner, { label: 'Head of plant' })
  const escalation = [
    { after_minutes: 10, channel_ids: [first] },
    { after_minutes: 45, channel_ids: [first, second] },
  ]
  const path = `/api/v1/zones/${id}`
  const change = (path: string, body: object) =>
    at.service.request('PATCH', path, { key: owner.key, body })
  const given = { quiet_windows: WINDOWS, quiet_hours_tz: 'Europe/Istanbul', escalation }
  expect((await change(path, given)).status).toBe(200)
  expect((await change(`/api/v1/channels/${second}`, { enabled: false })).status).toBe(200)
  const find = async () => {
    const { body } = await at.service.request('GET', path, { key: owner.key })
    return (body as { zone: { [name: string]: unknown } }).zone // safe: 200
  }

  const opened = await at.visit(owner, `/#/zones/${id}`, { isPhone: true, theme: 'dark' })
  const { page } = opened
  const row = (name: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) })
  const asked = await previews(page)
  const save = page.getByRole('button', { name: 'Save' })
  await page.getByLabel('Name', { exact: true }).fill('Depot 2')
  await save.click()
  await page.getByText('Saved.').waitFor()
  expect(await find()).toMatchObject({ label: 'Depot 2', ...given })
  const days = row('Window 2').getByRole('checkbox', { checked: true })
  await eventually(() => days.evaluateAll((all) => all.map((one) => one.ariaLabel))).toEqual([
    'Friday',
  ])
  expect(await row('Window 2').getByLabel('To').inputValue()).toBe('00:00')
  await expectAccessible(page)
  await expectNoSideways(page)

  // A new row has the focus, and a row that goes gives it back.
  const addWindow = page.getByRole('button', { name: 'Add quiet window' })
  await addWindow.press('Enter')
  await row('Window 4').getByLabel('Monday').and(page.locator(':focus')).press('Space')
  await row('Window 1').getByRole('button', { name: 'Remove window 1' }).press('Enter')
  await addWindow.and(page.locator(':focus')).waitFor()
  const added = { days: ['tue', 'wed', 'thu', 'fri', 'sat', 'sun'], start: '22:00', end: '07:00' }
  const quiet_windows = [WINDOWS[1], WINDOWS[2], added]
  await eventually(() => asked.at(-1)).toMatchObject({ quiet_windows, escalation })
  await row('Step 2').getByLabel('On call').uncheck()
  await row('Step 2').getByText('This step tells nobody: each of its channels is off').waitFor()
  await page.getByRole('button', { name: 'Add step' }).press('Enter')
  const minutes = row('Step 3').getByLabel('After so many minutes')
  await minutes.and(page.locator(':focus')).fill('45')
  await row('Step 3').getByText('This step tells nobody: choose a channel.').waitFor()
  await row('Step 3').getByLabel('Head of plant').check()
  await save.press('Enter')
  await row('Step 3').getByText('not more than 45').waitFor()
  await minutes.and(page.locator(':focus[aria-invalid=true]')).fill('90')
  await row('Window 2').getByLabel('From').fill('12:00')
  await save.press('Enter')
  await row('Window 2').getByText('The window begins and ends at 12:00').waitFor()
  await row('Window 2').getByLabel('From').fill('00:00')
  for (const name of ['Saturday', 'Sunday']) await row('Window 2').getByLabel(name).uncheck()
  await save.press('Enter')
  const refused = row('Window 2').locator('fieldset:focus', { hasText: 'Begins on' })
  await refused.getByText('Must not be empty.').waitFor()
  for (const name of ['Saturday', 'Sunday']) await row('Window 2').getByLabel(name).check()
  await save.press('Enter')
  await eventually(find).toMatchObject({
    quiet_windows,
    escalation: [
      escalation[0],
      { after_minutes: 45, channel_ids: [second] },
      { after_minutes: 90, channel_ids: [second] },
    ],
  })
  await page.getByText('History').click()
  await page.getByText('after 10 min: On call; after 45 min: Head of plant;').waitFor()
  await page.getByText('Fri 22:00–24:00; Sat Sun 00:00–12:00; Tue Wed').waitFor()
  expectClean(opened)
})

test('why an alert waits for the end of quiet hours is told on the clock of its zone at that time', async () => {
  const owner = await at.service.person()
  const place = { lat: -40, lon: 60 }
  const id = await makeZone(at, owner, { label: 'Far', ...place })
  const patch = (body: object) =>
    at.service.request('PATCH', `/api/v1/zones/${id}`, { key: owner.key, body })
  const FAR = 'Pacific/Kiritimati'
  const HOURS_AHEAD = 14
  const hour = (ahead: number) => (new Date().getUTCHours() + HOURS_AHEAD + 24 + ahead) % 24
  const [start, end] = [hour(-2), hour(3)]
  const [from, to] = [start, end].map((hour) => `${String(hour).padStart(2, '0')}:00`)
  const quiet = { quiet_hours_start: from, quiet_hours_end: to, quiet_hours_tz: FAR }
  expect((await patch(quiet)).status).toBe(200)
  await at.jobs.ingest(quake({ ...place, title: 'M 5.0 - at night' }))
  await at.jobs.drain()
  expect((await patch({ quiet_hours_tz: 'Europe/Istanbul' })).status).toBe(200)
  const opened = await at.visit(owner, '/')
  const { page } = opened
  await page.getByRole('button', { name: /M 5\.0 - at night/ }).click()
  const check = page.getByRole('listitem').filter({ hasText: `${from}–${to}, ${FAR}` })
  const drawn = await check.locator('path[fill-opacity]').getAttribute('d')
  const turn = (start / 24) * 2 * Math.PI
  const [x, y] = (drawn?.match(/L (\S+) (\S+)/) ?? []).slice(1).map(Number)
  expect(x).toBeCloseTo(36 + 28 * Math.sin(turn))
  expect(y).toBeCloseTo(36 - 28 * Math.cos(turn))
  expectClean(opened)
})

test('in Turkish the list’s title is whole, and a refusal of the service is told in Turkish at its field', async () => {
  const owner = await at.service.person()
  const opened = await at.visit(owner, '/#/zones/new', { language: 'tr' })
  const { page } = opened
  const title = page.getByRole('heading', { name: 'Bölgeler' })
  expect(await title.evaluate((line) => line.scrollWidth - line.clientWidth)).toBe(0)
  await page.getByLabel('Ad', { exact: true }).fill('İskele')
  await page.getByLabel('Yarıçap (km)').fill('0')
  await page.getByRole('button', { name: 'Bölge oluştur' }).click()
  await page.getByText('En az 0,1 olmalı.').waitFor()
  expectClean(opened)
})
