import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  expectAccessible,
  expectClean,
  type ServedHub,
  serveHub,
  sharedBrowser,
  visit,
} from './browser.ts'

let hub: ServedHub
let browser: Browser
beforeAll(async () => {
  browser = await sharedBrowser()
  hub = await serveHub()
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Veri Lojistik' })
})
afterAll(() => hub?.close())

test('what could not be loaded again stays on the page, with what somebody types, and is said to be old', async () => {
  const opened = await visit(browser, hub, '/hub/p/demir/project')
  const { page, context } = opened
  await page.getByLabel('Tone of voice').fill('Warm and short.')
  await context.route('**/api/cockpit/**', (route) => route.fulfill({ status: 500, json: {} }))
  await page.evaluate(() => void window.__TANSTACK_QUERY_CLIENT__?.invalidateQueries())
  await page.getByText('Part of this page could not be loaded again.').waitFor()
  expect(await page.getByLabel('Tone of voice').inputValue()).toBe('Warm and short.')
  await expectAccessible(page)
  await context.unroute('**/api/cockpit/**')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Part of this page').waitFor({ state: 'detached' })
  expect(await page.getByLabel('Tone of voice').inputValue()).toBe('Warm and short.')
  expectClean(opened)
})
