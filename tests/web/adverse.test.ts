import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seedZones } from '../../scripts/bench/ground.ts'
import {
  eventually,
  expectAccessible,
  expectClean,
  type Opened,
  settled,
} from '../hub/web/browser.ts'
import { quake } from '../support/jobs.ts'
import type { Person } from '../support/service.ts'
import { makeZone, type ServedConsole, serveConsole } from './console.ts'

const PLACE = { lat: 41, lon: 29 }
const HOUR_MS = 3_600_000
let at: ServedConsole
let owner: Person

beforeAll(async () => {
  at = await serveConsole()
  owner = await at.service.person()
  await makeZone(at, owner, { label: 'The strait', ...PLACE })
})
afterAll(() => at?.close())

async function raise(title: string): Promise<void> {
  await at.jobs.ingest(quake({ ...PLACE, title }))
  await at.jobs.drain()
}

/** What the page did to be noticed. */
type Told = { notes: number; shown: { title: string; tag: string; click: () => void }[] }

/** Notes notifications and tones instead of showing and playing them; the page can be out of sight. */
function listen({ page }: Opened): Promise<void> {
  return page.evaluate(() => {
    const told: Told = { notes: 0, shown: [] }
    class Shown {
      static permission = 'default'
      static requestPermission = async () => {
        Shown.permission = 'granted'
        return 'granted'
      }
      onclick: () => void = () => undefined
      constructor(title: string, { tag }: { tag: string }) {
        told.shown.push({ title, tag, click: () => this.onclick() })
      }
      close() {}
    }
    const start = OscillatorNode.prototype.start
    OscillatorNode.prototype.start = function (...given) {
      told.notes += 1
      return start.apply(this, given)
    }
    const hidden = { get: () => (Reflect.get(window, 'isAway') ? 'hidden' : 'visible') }
    Object.defineProperty(document, 'visibilityState', hidden)
    Object.assign(window, { Notification: Shown, told })
  })
}

const toldOf = ({ page }: Opened) =>
  page.evaluate(() => {
    const { notes, shown }: Told = Reflect.get(window, 'told')
    return { notes, titles: shown.map(({ title }) => title) }
  })

test('a new alert is told by a tone and, while nobody looks, by a notification that opens it', async () => {
  const opened = await at.visit(owner, '/#/account')
  const { page } = opened
  await listen(opened)
  await raise('M 5.1 - both are off')
  await page.getByText('The strait: M 5.1 - both are off').waitFor()
  expect(await toldOf(opened)).toEqual({ notes: 0, titles: [] })

  await page.getByRole('switch', { name: /notification/ }).click()
  await page.getByRole('switch', { name: /tone/ }).click()
  await eventually(() =>
    page.getByRole('switch', { name: /notification/ }).getAttribute('aria-checked'),
  ).toBe('true')
  await raise('M 5.2 - seen on the page')
  await page.getByText('The strait: M 5.2 - seen on the page').waitFor()
  expect(await toldOf(opened)).toEqual({ notes: 2, titles: [] })

  await page.evaluate(() => Object.assign(window, { isAway: true }))
  await raise('M 5.3 - nobody looks')
  await eventually(() => toldOf(opened)).toEqual({
    notes: 4,
    titles: ['The strait: M 5.3 - nobody looks'],
  })
  // The newest takes the place of the one before.
  expect(await page.getByText('M 5.2 - seen on the page').count()).toBe(0)
  await page.evaluate(() => {
    const { shown }: Told = Reflect.get(window, 'told')
    shown[0]?.click()
  })
  await page.getByRole('heading', { name: 'M 5.3 - nobody looks' }).waitFor()
  // Several that come together are told once: the most severe, with how many there are.
  const together = ['M 5.4 - one', 'M 6.8 - the worst', 'M 5.0 - three']
  await at.jobs.ingest(
    ...together.map((title, nth) => quake({ ...PLACE, title, severity: [60, 85, 55][nth] ?? 0 })),
  )
  await at.jobs.drain()
  const said = '3 new alerts. The most severe: The strait: M 6.8 - the worst'
  await page.getByText(said).waitFor()
  expect(await toldOf(opened)).toEqual({
    notes: 6,
    titles: ['The strait: M 5.3 - nobody looks', said],
  })
  // It is of this browser, and stays.
  await page.goto('/#/account')
  await page.reload()
  await eventually(() =>
    page.getByRole('switch', { name: /tone/ }).getAttribute('aria-checked'),
  ).toBe('true')
  expectClean(opened)
})

test('a browser that allows no notifications says so, and the switch stays off', async () => {
  const opened = await at.visit(owner, '/#/account')
  const { page } = opened
  await page.evaluate(() => {
    Object.assign(Notification, { requestPermission: async () => 'denied' })
  })
  await page.getByRole('switch', { name: /notification/ }).click()
  await page.getByText('The browser does not allow it.').waitFor()
  expect(
    await page.getByRole('switch', { name: /notification/ }).getAttribute('aria-checked'),
  ).toBe('false')
  expectClean(opened)
})

/** Puts the clock of the browser wrong, for all pages that follow. */
async function putClock({ context }: Opened, off_ms: number): Promise<void> {
  await context.addInitScript((off) => {
    const Right = Date
    const now = () => Right.now() + off
    class Wrong extends Right {
      constructor(...given: []) {
        if (given.length === 0) super(now())
        else super(...given)
      }
      static override now = now
    }
    Object.assign(window, { Date: Wrong })
  }, off_ms)
}

test.each([2, -2])('with a clock that is %i hours off, times follow the service', async (hours) => {
  const person = await at.service.person()
  await makeZone(at, person, { label: 'The strait', ...PLACE })
  const name = `M 5.5 - just now, ${hours}`
  await at.jobs.ingest(
    quake({ ...PLACE, title: name, ts: new Date(Date.now() - 660_000).toISOString() }),
  )
  await at.jobs.drain()
  const opened = await at.visit(person, '/#/nowhere')
  const { page, context } = opened
  await putClock(opened, hours * HOUR_MS)
  const renewals: string[] = []
  context.on('request', (request) => {
    if (request.url().includes('/auth/v1/token')) renewals.push(request.url())
  })
  await page.goto('/#/')
  await page.reload()
  await page.getByText('The clock of this computer is 120 minutes off.').waitFor()
  const line = page.getByRole('button', { name: new RegExp(name) })
  await line.waitFor()
  expect(await line.textContent()).toMatch(/1\d min/)
  // What happens now is in the window of the slider, whose last bar it is in.
  const heights = await page
    .locator('svg rect')
    .evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute('height'))))
  expect(heights.at(-1)).toBeGreaterThan(0)
  // An alert of now is told as new, and a snooze lasts as long as it says.
  await at.jobs.ingest(quake({ ...PLACE, title: `M 5.6 - new, ${hours}` }))
  await at.jobs.drain()
  await page.getByText(`The strait: M 5.6 - new, ${hours}`).waitFor()
  await page.getByRole('link', { name: 'Zones' }).click()
  await page.getByRole('link', { name: /The strait/ }).click()
  await page.getByRole('button', { name: 'Snooze' }).click()
  await page.getByRole('menuitem', { name: 'For 1 hour' }).click()
  await page.getByText('Snoozed; it alerts again').waitFor()
  const { body } = await at.service.request('GET', '/api/v1/zones', { key: person.key })
  const [zone] = (body as { zones: { snoozed_until: string }[] }).zones // safe: 200
  const left_ms = Date.parse(zone?.snoozed_until ?? '') - Date.now()
  expect(Math.abs(left_ms - HOUR_MS)).toBeLessThan(120_000)
  // The token is renewed once at most, not before each request.
  expect(renewals.length).toBeLessThanOrEqual(1)
  expectClean(opened)
})

test('a token that has ended is renewed, and nobody notices; a session that has ended asks for a link', async () => {
  const opened = await at.visit(owner, '/#/zones')
  const { page } = opened
  const spoil = (parts: Record<string, string>) =>
    page.evaluate((given) => {
      const kept = JSON.parse(localStorage.getItem('watchpost.session') ?? '{}')
      localStorage.setItem('watchpost.session', JSON.stringify({ ...kept, ...given }))
    }, parts)
  const tokenOf = () =>
    page.evaluate(() => JSON.parse(localStorage.getItem('watchpost.session') ?? '{}').access_token)
  await spoil({ access_token: 'ended' })
  await page.reload()
  await page.getByRole('link', { name: /The strait/ }).waitFor()
  expect(await tokenOf()).not.toBe('ended')
  await page.getByRole('link', { name: 'Alerts' }).click()
  await page.getByRole('heading', { name: 'Alerts' }).waitFor()
  await settled(page)

  await spoil({ access_token: 'ended', refresh_token: 'ended' })
  await page.reload()
  await page.getByRole('heading', { name: 'Sign in to Watchpost' }).waitFor()
  await page.getByLabel('Sign-in link').fill(await at.linkFor(owner))
  await page.getByRole('button', { name: 'Sign in' }).click()
  // Where the reader was.
  await page.getByRole('heading', { name: 'Alerts' }).waitFor()
  expectClean(opened)
})

test('a service that was away is followed again, without a reload', async () => {
  const opened = await at.visit(owner, '/#/alerts')
  const { page } = opened
  const said = page.getByText('The service does not answer. What you see may be out of date; this')
  at.away(true)
  await page.getByLabel('Which alerts').selectOption('resolved')
  await said.waitFor()
  await page.getByLabel('Which alerts').selectOption('open')
  await raise('M 5.7 - raised meanwhile')
  at.away(false)
  await said.waitFor({ state: 'detached' })
  await page
    .getByRole('button', { name: /M 5\.7 - raised meanwhile/ })
    .first()
    .waitFor()
  await raise('M 5.8 - raised afterwards')
  await page
    .getByRole('button', { name: /M 5\.8 - raised afterwards/ })
    .first()
    .waitFor()
})

test('of 5,000 zones the page holds those that are seen; any is found by name or by scrolling', async () => {
  const many = await at.service.person()
  const admin = new pg.Client({ connectionString: at.service.database.adminUrl })
  await admin.connect()
  await seedZones(admin, many.user_id, 5000)
  // Past the triggers, which would record 5,000 changes.
  await admin.query('set session_replication_role = replica')
  await admin.query(
    `update watchpost.zones z set label = 'Depot ' || n.nr
    from (select id, row_number() over (order by created_at, id) as nr from watchpost.zones where owner_id = $1) n
    where n.id = z.id`,
    [many.user_id],
  )
  await admin.end()
  const opened = await at.visit(many, '/#/zones')
  const { page } = opened
  const lines = page.getByRole('link', { name: /^Depot/ })
  await lines.first().waitFor()
  expect(await lines.count()).toBeLessThan(100)
  const first = lines.first()
  const item = page.getByRole('listitem').filter({ has: first })
  expect(await item.first().getAttribute('aria-setsize')).toBe('5000')
  await expectAccessible(page)
  await page.getByRole('searchbox', { name: 'Find a zone by its name' }).fill('depot 4321')
  await eventually(() => lines.count()).toBe(1)
  await lines.click()
  await page.getByRole('heading', { name: 'Depot 4321' }).waitFor()
  await page.getByRole('searchbox').fill('')
  // All of it can be scrolled at once, and the zone that is open is brought into view.
  const list = page.locator('ul[style*=height]')
  await eventually(async () => (await list.boundingBox())?.height ?? 0).toBeGreaterThan(200_000)
  await page.getByRole('link', { name: 'Depot 4321 ' }).waitFor()
  await page.getByRole('searchbox').fill('no such zone')
  await page.getByText('No zone has such a name.').waitFor()
  expectClean(opened)
})
