import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, expectAccessible, expectClean } from '../hub/web/browser.ts'
import { quake } from '../support/jobs.ts'
import type { Person } from '../support/service.ts'
import { makeZone, type ServedConsole, serveConsole } from './console.ts'

const PLACE = { lat: 41, lon: 29 }
/** Drawing without a graphics card takes its time. */
const SLOW_MS = 60_000
/** Each pixel of a map costs processor time then; narrower, the console would show it as on a phone. */
const SMALL = { width: 1040, height: 600 }
let at: ServedConsole
let owner: Person
let zone: string

beforeAll(async () => {
  at = await serveConsole({ hasWebGL: true })
  owner = await at.service.person()
  zone = await makeZone(at, owner, { label: 'The strait', ...PLACE })
})
afterAll(() => at?.close())

/** The middle of a map that is ready, on the page. */
async function middleOf(page: Page, label: string): Promise<{ x: number; y: number }> {
  const map = page.locator(`section[aria-label="${label}"][data-ready=true]`)
  await map.waitFor({ timeout: SLOW_MS })
  const box = await map.boundingBox()
  if (!box) throw new Error('the map has no size')
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
}

test('the map draws: a zone under the pointer opens its page, and a click there moves its centre', async () => {
  const opened = await at.visit(owner, '/#/nowhere')
  const { page } = opened
  await page.setViewportSize(SMALL)
  await page.evaluate(() =>
    localStorage.setItem('watchpost.view', JSON.stringify({ center: [29, 41], zoom: 6 })),
  )
  await page.goto('/#/')
  const middle = await middleOf(page, 'Map of events and zones')
  await expect
    .poll(
      async () => {
        await page.mouse.click(middle.x, middle.y)
        return page.url()
      },
      { timeout: SLOW_MS, interval: 1000 },
    )
    .toContain(`#/zones/${zone}`)

  const centre = await middleOf(page, 'Map of the zone')
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

test('the ring of a circle is dragged by its dot, and the map keeps the whole circle in view', async () => {
  const opened = await at.visit(owner, '/#/nowhere')
  const { page } = opened
  await page.setViewportSize(SMALL)
  await page.goto(`/#/zones/${zone}`)
  const map = page.locator('section[aria-label="Map of the zone"]')
  /** The dot where it must be if the map was fitted to the circle, 60 pixels from its nearer edges. */
  const dotOf = async () => {
    const { x, y } = await middleOf(page, 'Map of the zone')
    const { width = 0, height = 0 } = (await map.boundingBox()) ?? {}
    const dot = { x: x + Math.min(width, height) / 2 - 60, y }
    await hold(dot, { x, y })
    return { ...dot, radius_px: dot.x - x }
  }
  /** Moves the pointer to and fro until the dot is under it. */
  const hold = (dot: { x: number; y: number }, beside: { x: number; y: number }) =>
    expect
      .poll(
        async () => {
          await page.mouse.move(beside.x, beside.y)
          await page.mouse.move(dot.x, dot.y)
          return map.locator('canvas').evaluate((canvas) => canvas.style.cursor)
        },
        { timeout: SLOW_MS, interval: 500 },
      )
      .toBe('ew-resize')
  const radius = page.getByLabel('Radius in km')
  const { x, y, radius_px } = await dotOf()
  await page.mouse.down()
  await page.mouse.move(x + 10, y, { steps: 4 })
  await page.mouse.move(x - radius_px / 2, y, { steps: 4 })
  await page.mouse.up()
  await eventually(async () => Math.round(Number(await radius.inputValue()) / 2)).toBe(20)
  // A drag moves neither the map nor the centre.
  expect(await page.getByLabel('Longitude').inputValue()).toBe('29')

  // Once the button is released beside the map, the pointer drags nothing any more.
  const dot_x = x - radius_px / 2
  await hold({ x: dot_x, y }, { x: dot_x - 40, y })
  await page.mouse.down()
  await page.mouse.move(dot_x + 20, y, { steps: 4 })
  await eventually(async () => Number(await radius.inputValue())).toBeGreaterThan(41)
  await radius.hover()
  await page.mouse.up()
  const left = await radius.inputValue()
  await page.mouse.move(dot_x - 20, y, { steps: 4 })
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)))
  expect(await radius.inputValue()).toBe(left)

  await radius.fill('600')
  await dotOf()
  await page.setViewportSize({ ...SMALL, height: 520 })
  await dotOf()
  // A city takes the circle along, as large as it is.
  const search = page.getByRole('combobox', { name: 'Search a city' })
  await search.fill('osaka')
  await page.getByRole('option').first().waitFor()
  await search.press('Enter')
  await eventually(() => page.getByLabel('Longitude').inputValue()).toMatch(/^135\.5/)
  await dotOf()
  // On a phone the map comes before the form.
  await page.setViewportSize({ width: 390, height: 844 })
  await dotOf()
  const topOf = async (part: Locator) => (await part.boundingBox())?.y ?? 0
  expect(await topOf(map)).toBeLessThan(await topOf(page.getByLabel('Name')))
  expectClean(opened)
})

type Ring = [lon: number, lat: number][]
type Drawn = { label: string; shape_type: string; polygon: { coordinates: [Ring] } | null }

async function zoneNamed(label: string): Promise<Drawn | undefined> {
  const { body } = await at.service.request('GET', '/api/v1/zones', { key: owner.key })
  return (body as { zones: Drawn[] }).zones.find((found) => found.label === label) // safe: 200
}

const ringOf = async (label: string) => (await zoneNamed(label))?.polygon?.coordinates[0] ?? []
const westOf = (ring: Ring) => Math.min(...ring.map(([lon]) => lon))
const northOf = (ring: Ring) => Math.max(...ring.map(([, lat]) => lat))

test('a polygon is drawn by clicks, moved and bent; the preview follows, and text does the same', async () => {
  await at.jobs.ingest(quake({ ...PLACE, title: 'M 5.0 - inside' }))
  await at.jobs.drain()
  const opened = await at.visit(owner, '/#/nowhere')
  const { page } = opened
  await page.setViewportSize({ ...SMALL, height: 700 })
  await page.evaluate(() =>
    localStorage.setItem('watchpost.view', JSON.stringify({ center: [29, 41], zoom: 6 })),
  )
  await page.goto('/#/zones/new')
  await page.getByLabel('Name').fill('Drawn')
  await page.getByLabel('Shape', { exact: true }).selectOption('polygon')
  await page.getByText('Draw the polygon to see it.').waitFor()
  await page.locator('section[data-mode=draw]').waitFor()
  const { x, y } = await middleOf(page, 'Map of the zone')
  // The drawing listens a moment after the map is there.
  const corners = page.getByLabel('Corners')
  const draw = async () => {
    for (const [right, down] of [
      [-90, -90],
      [90, -90],
      [90, 90],
      [-90, 90],
      [-90, -90],
    ] as const) {
      await page.mouse.move(x + right, y + down, { steps: 3 })
      await page.mouse.click(x + right, y + down)
    }
    return page.locator('section[data-mode=edit]').count()
  }
  await expect.poll(draw, { timeout: SLOW_MS, interval: 1000 }).toBe(1)
  await page.getByText('1 alert', { exact: true }).waitFor()
  expect((await corners.inputValue()).split('\n')).toHaveLength(4)
  await page.getByRole('button', { name: 'Create zone' }).click()
  await page.getByText('Drawn watches from now on.').waitFor()
  await page.getByRole('heading', { name: 'Drawn' }).waitFor()
  const first = await ringOf('Drawn')
  expect(first).toHaveLength(5)
  expect(westOf(first)).toBeLessThan(29)
  expect(northOf(first)).toBeGreaterThan(41)

  // The saved zone is on a map of its own, which shows all of it.
  await page.locator('section[data-mode=edit][data-ready=true]').waitFor({ timeout: SLOW_MS })
  const middle = await middleOf(page, 'Map of the zone')
  const drag = async (from: { x: number; y: number }, right: number, down: number) => {
    await page.mouse.move(from.x, from.y, { steps: 3 })
    await page.mouse.down()
    await page.mouse.move(from.x + right, from.y + down, { steps: 8 })
    await page.mouse.up()
  }
  const before = await corners.inputValue()
  await expect
    .poll(
      async () => {
        if ((await corners.inputValue()) === before) await drag(middle, 60, 40)
        return corners.inputValue()
      },
      { timeout: SLOW_MS, interval: 1000 },
    )
    .not.toBe(before)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  const moved = await ringOf('Drawn')
  expect(westOf(moved)).toBeGreaterThan(westOf(first))
  expect(northOf(moved)).toBeLessThan(northOf(first))

  // Opened again, the map is fitted to the zone: so its corners are known on the page, too.
  await page.goto('/#/alerts')
  await page.getByRole('link', { name: 'Zones' }).click()
  await page.getByRole('link', { name: /Drawn/ }).click()
  await page.locator('section[data-mode=edit][data-ready=true]').waitFor({ timeout: SLOW_MS })
  const centre = await middleOf(page, 'Map of the zone')
  const box = await page.locator('section[aria-label="Map of the zone"]').boundingBox()
  const half = (Math.min(box?.width ?? 0, box?.height ?? 0) - 120) / 2
  const isSquare = (ring: Ring) =>
    ring.some(([lon, lat]) => lon === westOf(ring) && lat === northOf(ring))
  expect(isSquare(moved)).toBe(true)
  const shown = await corners.inputValue()
  await expect
    .poll(
      async () => {
        if ((await corners.inputValue()) === shown) {
          await drag({ x: centre.x - half, y: centre.y - half }, 40, 40)
        }
        return corners.inputValue()
      },
      { timeout: SLOW_MS, interval: 1000 },
    )
    .not.toBe(shown)
  expect((await corners.inputValue()).split('\n')).toHaveLength(4)
  await page.getByRole('button', { name: 'Save' }).click()
  await eventually(async () => isSquare(await ringOf('Drawn'))).toBe(false)
  expect(westOf(await ringOf('Drawn'))).toBe(westOf(moved))

  // By keyboard alone: the corners as text, as they are and pasted.
  await corners.focus()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type('10, 20')
  await page.getByText('These are not corners yet').waitFor()
  await page.keyboard.type('\n10, 21\n11, 21')
  await page.getByText('0 alerts', { exact: true }).waitFor()
  await page.keyboard.press('Tab')
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Save' }).focus()
  await page.keyboard.press('Enter')
  await eventually(() => ringOf('Drawn')).toEqual([
    [20, 10],
    [21, 10],
    [21, 11],
    [20, 10],
  ])
  // Leaving ends the drawing before its map.
  await page.getByRole('link', { name: 'Alerts', exact: true }).click()
  await page.getByRole('heading', { name: 'Alerts' }).waitFor()
  expectClean(opened)
})

test('a city is found by its name in any spelling, and the map goes there', async () => {
  const opened = await at.visit(owner, '/#/nowhere', { theme: 'dark' })
  const { page } = opened
  await page.setViewportSize(SMALL)
  await page.goto('/#/')
  await middleOf(page, 'Map of events and zones')
  // The list gives way to the map, and comes back.
  await page.getByRole('button', { name: 'Hide the list' }).click()
  const search = page.getByRole('combobox', { name: 'Search a city' })
  await search.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Show the list' }).press('Enter')
  await search.fill('izmir')
  await page.getByRole('option', { name: 'İzmir' }).waitFor()
  await expectAccessible(page)
  await search.press('Enter')
  expect(await search.inputValue()).toBe('İzmir')
  const view = () => page.evaluate(() => localStorage.getItem('watchpost.view') ?? '')
  await eventually(view).toMatch(/"center":\[27\.1\d*,38\.4/)
  expectClean(opened)
})

const SQUARE = [
  [9, 49],
  [11, 49],
  [11, 51],
  [9, 51],
  [9, 49],
]

test('a click into a footprint opens its event, a point on top wins, and the way is told in words', async () => {
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
  const geometry = { type: 'Polygon' as const, coordinates: [SQUARE] }
  const flood = quake({
    type: 'flood',
    lat: 50.5,
    lon: 10.5,
    title: 'Flood of the plain',
    geometry,
  })
  const storm = quake({ type: 'storm', title: 'Storm of the plain', lat: 50, lon: 11, ts: ago(3) })
  await at.jobs.ingest(flood, storm)
  await at.jobs.ingest({ ...storm, lat: 49.5, lon: 10.5, ts: ago(1) })
  const opened = await at.visit(owner, '/#/nowhere')
  const { page } = opened
  await page.setViewportSize({ width: 900, height: 500 })
  await page.evaluate(() =>
    localStorage.setItem('watchpost.view', JSON.stringify({ center: [10, 50], zoom: 6 })),
  )
  await page.goto('/#/')
  const middle = await middleOf(page, 'Map of events and zones')
  const open = async (x: number, y: number, title: string) => {
    await expect
      .poll(
        async () => {
          await page.mouse.click(x, y)
          return page.getByRole('heading', { level: 1, name: title }).count()
        },
        { timeout: SLOW_MS, interval: 1000 },
      )
      .toBe(1)
  }
  await open(middle.x, middle.y, 'Flood of the plain')
  await page.getByText(/km², .* km wide and .* km high/).waitFor()
  // Half a degree at zoom 6: 512 px · 2⁶ for 360°.
  const half = (512 * 2 ** 6) / 720
  const down = half / Math.cos((50 * Math.PI) / 180)
  await open(middle.x + half, middle.y + down, 'Storm of the plain')
  await page.getByText(/^66\.\d km in 2 hrs$/).waitFor()
  await page.getByText('to the south-west').waitFor()
  await expectAccessible(page)
  // Two hours ago it was at its first place, and the flood had not come yet.
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByLabel('Shown until').fill(String(Math.round(240 * (22 / 24))))
  await open(middle.x + 2 * half, middle.y, 'Storm of the plain')
  await page.getByRole('button', { name: 'Close' }).click()
  await page.mouse.click(middle.x, middle.y)
  await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor()
  expect(await page.getByText('Flood of the plain').count()).toBe(0)
  await page.getByLabel('Shown until').fill('240')
  await page.getByLabel('Type').selectOption('Storm')
  await eventually(() => page.getByText('Flood of the plain').count()).toBe(0)
  await page.getByText('Storm of the plain').waitFor()
  expectClean(opened)
})

test('the map goes to a chosen event that it does not show, and stays where it shows it', async () => {
  await at.jobs.ingest(quake({ lat: -30, lon: -71, title: 'M 6.1 - far away' }))
  await at.jobs.ingest(quake({ lat: 41.5, lon: 29.5, title: 'M 2.1 - close by' }))
  const opened = await at.visit(owner, '/#/nowhere')
  const { page } = opened
  await page.setViewportSize(SMALL)
  await page.evaluate(() =>
    localStorage.setItem('watchpost.view', JSON.stringify({ center: [27, 41], zoom: 6 })),
  )
  const centre = async () => {
    const view = await page.evaluate(() => localStorage.getItem('watchpost.view'))
    return (JSON.parse(view ?? '{}') as { center: number[] }).center.map(Math.round) // safe: written above
  }
  await page.goto('/#/')
  await middleOf(page, 'Map of events and zones')
  await page.getByRole('button', { name: /M 2\.1 - close by/ }).click()
  await page.getByRole('heading', { name: 'M 2.1 - close by' }).waitFor()
  await page.getByRole('button', { name: 'Close' }).click()
  expect(await centre()).toEqual([27, 41])
  await page.getByRole('button', { name: /M 6\.1 - far away/ }).click()
  // Right of the list, so its place is east of the centre.
  await expect.poll(async () => (await centre())[1], { timeout: SLOW_MS }).toBe(-30)
  const [lon = 0] = await centre()
  expect(lon).toBeLessThan(-72)
  expect(lon).toBeGreaterThan(-77)
  expectClean(opened)
})
