import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  eventually,
  expectAccessible,
  expectClean,
  expectNoSideways,
  open,
  settled,
} from '../hub/web/browser.ts'
import { expectSpoken, readVocabulary } from '../hub/web/words.ts'
import { quake } from '../support/jobs.ts'
import type { Person } from '../support/service.ts'
import { makeChannel, makeZone, type ServedConsole, serveConsole } from './console.ts'

const PLACE = { lat: 41, lon: 29 }
let at: ServedConsole
let owner: Person
let zone: string
let channel: string
let org: string

beforeAll(async () => {
  at = await serveConsole()
  owner = await at.service.person()
  zone = await makeZone(at, owner, { label: 'The strait', ...PLACE })
  channel = await makeChannel(at, owner, { label: 'On call' })
  org = await at.service.organisation(owner)
})
afterAll(() => at?.close())

/** An earthquake in the zone and its alert. */
async function raise(title: string): Promise<void> {
  await at.jobs.ingest(quake({ ...PLACE, title }))
  await at.jobs.drain()
}

/** The id of the newest alert. */
async function anAlert(): Promise<string> {
  const { body } = await at.service.request('GET', '/api/v1/alerts', { key: owner.key })
  return (body as { alerts: { id: string }[] }).alerts[0]?.id ?? '' // safe: 200
}

test('whoever has no session is asked for a link, and gets in with it', async () => {
  const { page, wrongs } = await open(at.browser, at.origin)
  await page.goto('/')
  await page.getByRole('heading', { name: 'Sign in to Watchpost' }).waitFor()
  await page.getByLabel('Sign-in link').fill(`${at.origin}/sign-in`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('it has no token after #').waitFor()
  await page.getByLabel('Sign-in link').fill(await at.linkFor(owner))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Events', exact: true }).waitFor()
  expect(wrongs).toEqual([])
})

test('the page of a sign-in link opens the console signed in, and signing out ends that', async () => {
  const { page } = await open(at.browser, at.origin)
  await page.goto(await at.linkFor(owner))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Events', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in to Watchpost' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Sign in to Watchpost' }).waitFor()
})

test('an alert appears without a reload; it is resolved with a note, and reopened by undo', async () => {
  const opened = await at.visit(owner, '/#/alerts')
  const { page } = opened
  await raise('M 5.1 - seen at once')
  const line = page.getByRole('button', { name: /M 5\.1 - seen at once/ }).first()
  await line.waitFor()
  await line.click()
  await page.getByRole('heading', { name: 'M 5.1 - seen at once' }).waitFor()
  await page.getByText('Severe enough').waitFor()
  await page.getByLabel('Note').fill('Nobody is hurt.')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The note is saved.').waitFor()
  await page.getByRole('heading', { name: 'M 5.1 - seen at once' }).focus()
  await page.keyboard.press('e')
  await page.getByText('Resolved.', { exact: true }).waitFor()
  const alertOf = async () => {
    const path = '/api/v1/alerts?resolved=true'
    const { body } = await at.service.request('GET', path, { key: owner.key })
    const { alerts } = body as { alerts: { note: string; resolved_via: string }[] } // safe: 200
    return alerts.map(({ note, resolved_via }) => [note, resolved_via])
  }
  await eventually(alertOf).toEqual([['Nobody is hurt.', 'console']])
  await page.getByRole('button', { name: 'Undo' }).click()
  await eventually(alertOf).toEqual([])
  expectClean(opened)
})

test('several alerts are resolved at once, and come back by one undo', async () => {
  const fresh = await at.service.person()
  await makeZone(at, fresh, { label: 'The bay', lat: 10, lon: 10 })
  await at.jobs.ingest(
    ...['one', 'two', 'three'].map((name, at) =>
      quake({ lat: 10, lon: 10, title: `M 5.0 - ${name}`, severity: 50 + 20 * at }),
    ),
  )
  await at.jobs.drain()
  const opened = await at.visit(fresh, '/#/alerts')
  const { page } = opened
  const open = page.getByRole('checkbox', { name: /^Select M/ })
  await eventually(() => open.count()).toBe(3)
  await page.getByRole('checkbox', { name: 'Select M 5.0 - two' }).check()
  await page.getByText('1 selected').waitFor()
  await page.getByRole('button', { name: /M 5\.0 - three/ }).click()
  await page.getByRole('heading', { name: 'M 5.0 - three' }).focus()
  await page.keyboard.press('x')
  await page.getByText('2 selected').waitFor()
  // What the filter hides is not resolved unseen.
  await page.getByLabel('Severity').selectOption('80')
  await page.getByText('1 selected').waitFor()
  await page.getByLabel('Severity').selectOption('')
  await page.getByText('2 selected').waitFor()
  await page.getByRole('button', { name: 'Resolve them' }).click()
  await page.getByText('2 alerts are resolved.').waitFor()
  await eventually(() => open.count()).toBe(1)
  await page.getByRole('button', { name: 'Undo' }).click()
  await eventually(() => open.count()).toBe(3)
  await page.getByLabel('Delivery').selectOption('failed')
  await page.getByText('No alerts here').waitFor()
  expectClean(opened)
})

test('a chosen event says which zones hold it and why it alerted or did not', async () => {
  await at.jobs.ingest(quake({ ...PLACE, title: 'M 1.0 - too weak', severity: 5 }))
  await at.jobs.drain()
  const opened = await at.visit(owner, '/')
  const { page } = opened
  await page.getByRole('button', { name: /M 1\.0 - too weak/ }).click()
  await page.getByText('It raised no alert').waitFor()
  await page.getByText('5, at least 40 needed').waitFor()
  await page.getByText(/from the centre, radius 80 km/).waitFor()
  // The address leads others to the same event.
  await page.reload()
  await page.getByRole('heading', { name: 'M 1.0 - too weak' }).waitFor()
  expectClean(opened)
})

test('a zone is made without a map, too; its preview follows the threshold', async () => {
  const opened = await at.visit(owner, '/#/zones/new')
  const { page } = opened
  await page.getByText('This browser draws no maps').waitFor()
  await page.getByLabel('Name').fill('By hand')
  await page.getByLabel('Latitude').fill('41')
  await page.getByLabel('Longitude').fill('29')
  await page.getByLabel('Radius in km').fill('80')
  await page.getByText(/In the last 30 days/).waitFor()
  await page.getByText('1 alert', { exact: true }).waitFor()
  await page.getByRole('slider', { name: 'Alert from severity' }).fill('90')
  await page.getByText('0 alerts', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Create zone' }).click()
  await page.getByText('By hand watches from now on.').waitFor()
  await page.getByRole('heading', { name: 'By hand' }).waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('By hand is deleted.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('link', { name: /By hand/ }).waitFor()
  expectClean(opened)
})

test('what the service refuses stands at its field', async () => {
  const { page } = await at.visit(owner, '/#/zones/new')
  await page.getByRole('button', { name: 'Add quiet window' }).click()
  await page.getByLabel('Time zone').fill('Mars/Olympus')
  await page.getByRole('button', { name: 'Create zone' }).click()
  await eventually(() => page.getByLabel('Name').getAttribute('aria-invalid')).toBe('true')
  await page.getByLabel('Name').fill('On Mars')
  await page.getByRole('button', { name: 'Create zone' }).click()
  await eventually(() => page.getByLabel('Time zone').getAttribute('aria-invalid')).toBe('true')
})

test('what is hidden from eyes scrolls with the form, and nothing around the form moves', async () => {
  const { page } = await at.visit(owner, '/#/zones/new')
  await page.getByRole('table', { name: 'Alerts by day' }).waitFor()
  await page.setViewportSize({ width: 1440, height: 500 })
  await page.getByText('More rules').click()
  const moved = await page.getByText('Icon on the map').evaluate((part) => {
    part.scrollIntoView()
    const around: Element[] = []
    for (let one = part.closest('form')?.parentElement; one; one = one.parentElement)
      around.push(one)
    return around
      .filter(({ scrollTop }) => scrollTop > 0)
      .map(({ outerHTML }) => outerHTML.slice(0, 99))
  })
  expect(moved).toEqual([])
})

test('a service that is away is said, and what was there stays', async () => {
  const { page } = await at.visit(owner, '/#/alerts')
  await page.getByRole('link', { name: 'Zones' }).click()
  await page.getByRole('link', { name: /The strait/ }).waitFor()
  const said = page.getByText('The service does not answer. What you see may be out of date; this')
  at.away(true)
  try {
    // A filter that nobody has asked for yet.
    await page.getByRole('link', { name: 'Alerts' }).click()
    await page.getByLabel('Which alerts').selectOption('all')
    await said.waitFor()
    await page.getByRole('link', { name: 'Zones' }).click()
    expect(await page.getByRole('link', { name: /The strait/ }).isVisible()).toBe(true)
    // A page whose script was never fetched comes by itself when the service is back.
    await page.getByRole('link', { name: 'Reports' }).click()
  } finally {
    at.away(false)
  }
  await page.getByRole('heading', { name: 'Reports' }).waitFor()
  await page.getByRole('link', { name: 'Alerts' }).click()
  await page.getByLabel('Which alerts').selectOption('resolved')
  await said.waitFor({ state: 'detached' })
})

test('every page is accessible in both themes and Turkish throughout', async () => {
  const words = await readVocabulary('tr', 'web', ['shared/words/event-words.ts'])
  // Names, titles, the sentence of a decision in Turkish, units and addresses.
  const data =
    /^(The strait|By hand|On call|Nobody is hurt\.|A team|API key|M \d.*|test.*|a test|Watchpost|Natural Earth|GeoNames|\(CC BY 4\.0\)|English|Türkçe|UTC|[\d.,]+ km.*|.*@.*|Önem derecesi .*)$/s
  let theme: 'light' | 'dark' = 'light'
  const { page, wrongs } = await at.visit(owner, '/', { theme, language: 'tr' })
  for (const path of [
    '/#/',
    '/#/alerts',
    `/#/alerts/${await anAlert()}`,
    '/#/zones',
    '/#/zones/new',
    `/#/zones/${zone}`,
    '/#/zones/import',
    '/#/channels/new',
    '/#/channels/new/telegram',
    `/#/channels/${channel}`,
    '/#/reports',
    '/#/reports/audit',
    '/#/reports/status',
    '/#/account',
    '/#/account/keys',
    '/#/account/orgs',
    `/#/account/orgs/${org}`,
    '/#/invite/token',
    '/#/nowhere',
  ]) {
    await page.goto(path)
    await settled(page)
    await expectAccessible(page)
    await expectSpoken(page, words, data)
    // The next page begins with the theme of this one's end.
    theme = theme === 'light' ? 'dark' : 'light'
    await page.emulateMedia({ colorScheme: theme })
    await page.locator(`html[data-theme=${theme}]`).waitFor()
    await expectAccessible(page, { isRecoloured: true })
  }
  expect(wrongs).toEqual([])
})

test('on a phone nothing is wider than the page', async () => {
  const { page } = await at.visit(owner, '/', { isPhone: true })
  for (const path of [
    '/#/',
    '/#/alerts',
    '/#/zones',
    '/#/zones/new',
    '/#/zones/import',
    '/#/channels/new',
    '/#/channels/new/mqtt',
    `/#/channels/${channel}`,
    '/#/reports',
    '/#/reports/audit',
    '/#/reports/status',
    '/#/account',
    '/#/account/keys',
    `/#/account/orgs/${org}`,
  ]) {
    await page.goto(path)
    await settled(page)
    await expectNoSideways(page)
  }
})
