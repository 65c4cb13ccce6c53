import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectClean } from '../hub/web/browser.ts'
import type { Person } from '../support/service.ts'
import { makeZone, type ServedConsole, serveConsole } from './console.ts'

const PLACE = { lat: 41, lon: 29 }
/** Drawing without a graphics card takes its time. */
const SLOW_MS = 60_000
let at: ServedConsole
let owner: Person
let zone: string

beforeAll(async () => {
  at = await serveConsole({ hasWebGL: true })
  owner = await at.service.person()
  zone = await makeZone(at, owner, { label: 'The strait', ...PLACE })
})
afterAll(() => at?.close())

test('the map draws: a zone under the pointer opens its page, and a click there moves its centre', async () => {
  const opened = await at.visit(owner, '/#/nowhere')
  const { page } = opened
  await page.setViewportSize({ width: 1100, height: 600 })
  await page.evaluate(() =>
    localStorage.setItem('watchpost.view', JSON.stringify({ center: [29, 41], zoom: 6 })),
  )
  await page.goto('/#/')
  const middleOf = async (label: string) => {
    const map = page.locator(`section[aria-label="${label}"][data-ready=true]`)
    await map.waitFor({ timeout: SLOW_MS })
    const box = await map.boundingBox()
    if (!box) throw new Error('the map has no size')
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  }
  const middle = await middleOf('Map of events and zones')
  await expect
    .poll(
      async () => {
        await page.mouse.click(middle.x, middle.y)
        return page.url()
      },
      { timeout: SLOW_MS, interval: 1000 },
    )
    .toContain(`#/zones/${zone}`)

  const centre = await middleOf('Map of the zone')
  await expect
    .poll(
      async () => {
        await page.mouse.click(centre.x + 40, centre.y)
        return Number(await page.getByLabel('Longitude').inputValue())
      },
      { timeout: SLOW_MS, interval: 1000 },
    )
    .toBeGreaterThan(29)
  expectClean(opened)
})
