import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, expectClean } from '../hub/web/browser.ts'
import { quake } from '../support/jobs.ts'
import type { Person } from '../support/service.ts'
import { type ServedConsole, serveConsole } from './console.ts'

const HOUR_MS = 3_600_000
let at: ServedConsole
let owner: Person

beforeAll(async () => {
  at = await serveConsole()
  owner = await at.service.person()
  const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString()
  await at.jobs.ingest(
    ...[72, 20, 2].map((hours, nr) =>
      quake({ lat: 10, lon: 10 * nr, title: `M 5.0 - ${hours} h ago`, ts: ago(hours) }),
    ),
  )
})
afterAll(() => at?.close())

test('the time is dragged back and played up to now, over a day and over a week', async () => {
  const opened = await at.visit(owner, '/')
  const { page } = opened
  const titles = async () => {
    const texts = await page.getByText(/^M 5\.0 - \d+ h ago$/).allTextContents()
    return [...new Set(texts)].sort()
  }
  const [day, two, three] = ['M 5.0 - 20 h ago', 'M 5.0 - 2 h ago', 'M 5.0 - 72 h ago']
  await eventually(titles).toEqual([two, day])

  // Ten hours ago the later one had not happened.
  const slider = page.getByRole('slider', { name: 'Shown until' })
  await slider.fill('140')
  await eventually(titles).toEqual([day])
  expect(await page.locator('output').textContent()).not.toBe('now')
  await slider.fill('216')
  await page.getByRole('button', { name: 'Play' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await eventually(titles).toEqual([two, day])
  await eventually(() => page.locator('output').textContent()).toBe('now')
  await page.getByRole('button', { name: 'Play' }).waitFor()

  // From now on it is played from the beginning, and stops where it is paused.
  await page.getByRole('button', { name: 'Play' }).click()
  await eventually(titles).toEqual([])
  await page.getByRole('button', { name: 'Pause' }).click()
  const paused = await slider.inputValue()
  expect(Number(paused)).toBeLessThan(120)
  await page.waitForTimeout(400)
  expect(await slider.inputValue()).toBe(paused)

  await page.getByLabel('Shown', { exact: true }).selectOption({ label: '7 days' })
  await eventually(titles).toEqual([two, day, three])
  expect(await slider.inputValue()).toBe('240')
  expectClean(opened)
})
