import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, expectAccessible, expectClean, settled } from '../hub/web/browser.ts'
import { quake } from '../support/jobs.ts'
import type { Person } from '../support/service.ts'
import { makeZone, type ServedConsole, serveConsole } from './console.ts'

let at: ServedConsole
let owner: Person

beforeAll(async () => {
  at = await serveConsole()
  owner = await at.service.person()
})
afterAll(() => at?.close())

test('what could not be loaded again stays on the page, with what somebody types, and is said to be old', async () => {
  const opened = await at.visit(owner, '/#/account/orgs')
  const { page, context } = opened
  await page.getByLabel('Name').fill('The night watch')
  const asked = '**/api/v1/account*'
  await context.route(asked, (route) => route.fulfill({ status: 500, json: {} }))
  await page.evaluate(() => void window.__TANSTACK_QUERY_CLIENT__?.invalidateQueries())
  await page.getByText('Part of this page could not be loaded again.').waitFor()
  expect(await page.getByLabel('Name').inputValue()).toBe('The night watch')
  await expectAccessible(page)
  await context.unroute(asked)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Part of this page').waitFor({ state: 'detached' })
  expect(await page.getByLabel('Name').inputValue()).toBe('The night watch')
  expectClean(opened)
})

/** Ends the session as one that is not renewed any more, which the next answer tells. */
const endSession = () => localStorage.removeItem('watchpost.session')

test('who signs in again after the session ended finds what they typed, and follows alerts as before', async () => {
  const opened = await at.visit(owner, '/#/account/orgs')
  const { page } = opened
  await page.getByLabel('Name').fill('The harbour')
  await page.evaluate(endSession)
  const make = page.getByRole('button', { name: 'Make' })
  await make.click()
  const again = page.getByRole('dialog', { name: 'Sign in to Watchpost' })
  await again.getByLabel('Sign-in link').fill(await at.linkFor(owner))
  await expectAccessible(page)
  const followed = page.waitForRequest('**/api/v1/alerts/changes*')
  await again.getByRole('button', { name: 'Sign in' }).click()
  await again.waitFor({ state: 'hidden' })
  await followed
  expect(await page.getByLabel('Name').inputValue()).toBe('The harbour')
  await make.click()
  await page.getByRole('heading', { name: 'The harbour' }).waitFor()
  expectClean(opened)
})

test('nothing of one person is left for the next who signs in, in no tab', async () => {
  const next = await at.service.person()
  const opened = await at.visit(owner, '/#/account/orgs')
  const { page, context } = opened
  const other = await context.newPage()
  await other.goto('/#/account/orgs')
  await other.getByLabel('Name').fill('Typed by the first')
  const whose = () =>
    other.evaluate(() =>
      JSON.stringify(window.__TANSTACK_QUERY_CLIENT__?.getQueryData(['account'])),
    )
  expect(await whose()).toContain(owner.email)
  await page.evaluate(endSession)
  // The next answer tells it, whichever page asks first.
  await page.evaluate(
    () => void window.__TANSTACK_QUERY_CLIENT__?.invalidateQueries({ queryKey: ['account'] }),
  )
  const again = page.getByRole('dialog', { name: 'Sign in to Watchpost' })
  await again.getByLabel('Sign-in link').fill(await at.linkFor(next))
  await again.getByRole('button', { name: 'Sign in' }).click()
  for (const tab of [page, other]) {
    await eventually(() => tab.url()).toBe(`${at.origin}/`)
    await settled(tab)
  }
  await other.goto('/#/account/orgs')
  await other.getByText(next.email).waitFor()
  expect(await other.getByLabel('Name').inputValue()).toBe('')

  await other.getByLabel('Name').fill('Typed by the next')
  await page.getByRole('button', { name: 'Account' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  for (const tab of [page, other]) {
    // The session ends before the page is loaded anew, and asks for a sign-in above it until then.
    await eventually(() => tab.getByRole('dialog').count()).toBe(0)
    await tab.getByLabel('Sign-in link').waitFor()
    await settled(tab)
  }
  expect(await whose()).toBeUndefined()
  expectClean(opened)
})

test('alerts that could not be resolved or reopened are told, and stay selected', async () => {
  const place = { lat: 41, lon: 29 }
  await makeZone(at, owner, { label: 'The strait', ...place })
  await at.jobs.ingest(
    ...['one', 'two'].map((name) => quake({ ...place, title: `M 5.1 - ${name}` })),
  )
  await at.jobs.drain()
  const opened = await at.visit(owner, '/#/alerts')
  const { page, context } = opened
  const changes = '**/api/v1/alerts/*'
  const refuse = () =>
    context.route(changes, (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({ status: 500, json: {} })
        : route.fallback(),
    )
  await page.getByLabel('Select all that are shown').check()
  const resolve = page.getByRole('button', { name: 'Resolve them' })
  await refuse()
  await resolve.click()
  await page.getByText('2 alerts could not be changed.').waitFor()
  expect(await page.getByText('0 alerts are resolved.').count()).toBe(0)
  await page.getByText('2 selected').waitFor()
  await context.unroute(changes)
  await resolve.click()
  await page.getByText('2 alerts are resolved.').waitFor()
  await page.getByRole('button', { name: 'Dismiss' }).first().click()
  await refuse()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('2 alerts could not be changed.').waitFor()
  expectClean(opened)
})
