import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessible, expectClean } from '../hub/web/browser.ts'
import type { Person } from '../support/service.ts'
import { type ServedConsole, serveConsole } from './console.ts'

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
