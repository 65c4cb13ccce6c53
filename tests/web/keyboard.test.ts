import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, expectClean, settled } from '../hub/web/browser.ts'
import { quake } from '../support/jobs.ts'
import type { Person } from '../support/service.ts'
import { makeChannel, makeZone, type ServedConsole, serveConsole } from './console.ts'
import { unreached } from './reach.ts'

const PLACE = { lat: 41, lon: 29 }
let at: ServedConsole
let owner: Person
let zone: string
let channel: string
let alert: string

beforeAll(async () => {
  at = await serveConsole()
  owner = await at.service.person()
  zone = await makeZone(at, owner, { label: 'The strait', ...PLACE })
  channel = await makeChannel(at, owner, { label: 'On call' })
  await at.jobs.ingest(quake({ ...PLACE, title: 'M 5.0 - inside' }))
  await at.jobs.drain()
  const { body } = await at.service.request('GET', '/api/v1/alerts', { key: owner.key })
  alert = (body as { alerts: { id: string }[] }).alerts[0]?.id ?? '' // safe: 200
})
afterAll(() => at?.close())

test('each control of each page is reached by Tab, and shows that it is', async () => {
  const opened = await at.visit(owner, '/')
  const { page } = opened
  for (const path of [
    '/#/',
    '/#/alerts',
    `/#/alerts/${alert}`,
    `/#/alerts/${alert}/evidence`,
    '/#/evidence',
    '/#/zones',
    '/#/zones/new',
    `/#/zones/${zone}`,
    '/#/zones/import',
    '/#/channels',
    '/#/channels/new',
    '/#/channels/new/webhook',
    `/#/channels/${channel}`,
    '/#/reports',
    '/#/reports/audit',
    '/#/reports/status',
    '/#/account',
    '/#/account/keys',
    '/#/account/orgs',
    '/#/invite/token',
  ]) {
    // Not shown before it is loaded anew, with the focus at its beginning.
    await page.evaluate((to) => history.replaceState(null, '', to), path)
    await page.reload()
    await page.getByRole('heading').first().waitFor()
    await settled(page)
    const { count, missing, unseen } = await unreached(page)
    expect(count, path).toBeGreaterThan(0)
    expect({ path, missing, unseen }).toEqual({ path, missing: [], unseen: [] })
  }
  expectClean(opened)
}, 180_000)

/** Presses Tab until a control of this name has the focus. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const isIt = (text: string) => (typeof name === 'string' ? text === name : name.test(text))
  const seen: string[] = []
  for (let step = 0; step < 80; step += 1) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => {
      const one = document.activeElement
      if (!(one instanceof HTMLElement)) return ''
      const labels = 'labels' in one ? [...((one as HTMLInputElement).labels ?? [])] : []
      const label = labels.map(({ textContent }) => textContent).join(' ')
      return (one.getAttribute('aria-label') || label || one.textContent || '').trim()
    })
    if (isIt(focused)) return
    seen.push(focused)
  }
  throw new Error(`Tab never came to ${name}: ${[...new Set(seen)].join(' | ').slice(0, 600)}`)
}

test('a zone, a channel, a key and an alert are dealt with by the keyboard alone', async () => {
  const opened = await at.visit(owner, '/')
  const { page } = opened
  const keys = (text: string) => page.keyboard.type(text)
  const press = (key: string) => page.keyboard.press(key)

  await page.getByRole('heading', { name: 'Events' }).waitFor()
  // The page listens a moment after it is shown.
  await eventually(async () => {
    await keys('gz')
    return page.url()
  }).toContain('#/zones')
  await page.getByRole('link', { name: 'The strait' }).waitFor()
  await tabTo(page, 'Create zone')
  await press('Enter')
  await page.getByRole('heading', { name: 'New zone' }).waitFor()
  await tabTo(page, /^Name/)
  await keys('By keys')
  await tabTo(page, /^Latitude/)
  await press('ControlOrMeta+a')
  await keys('10')
  await tabTo(page, /^Alert from severity/)
  await press('ArrowRight')
  await tabTo(page, 'Create zone')
  await press('Enter')
  await page.getByText('By keys watches from now on.').waitFor()
  const { body } = await at.service.request('GET', '/api/v1/zones', { key: owner.key })
  const made = (body as { zones: { label: string; lat: number; min_severity: number }[] }).zones // safe: 200
  const mine = made.find(({ label }) => label === 'By keys')
  expect(mine?.lat).toBe(10)
  expect(mine?.min_severity).toBeGreaterThan(40)

  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  await keys('ga')
  await page.getByRole('heading', { name: 'Alerts' }).waitFor()
  await page.getByText('M 5.0 - inside').first().waitFor()
  await keys('j')
  await page.getByRole('heading', { name: 'M 5.0 - inside' }).waitFor()
  await keys('e')
  const note = page.getByRole('dialog')
  if (await note.isVisible().catch(() => false)) await press('Enter')
  await page.getByRole('button', { name: 'Undo' }).waitFor()
  const after = await at.service.request('GET', `/api/v1/alerts/${alert}`, { key: owner.key })
  expect(after.body).toMatchObject({ alert: { resolved: true } })

  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  await keys('gu')
  await page.getByRole('heading', { name: 'Account' }).waitFor()
  await tabTo(page, 'Plan')
  await press('ArrowRight')
  await tabTo(page, 'Make a key')
  await press('Enter')
  await page.getByRole('dialog').waitFor()
  await tabTo(page, /^What is it for\?/)
  await keys('Night shift')
  await tabTo(page, 'Make a key')
  await press('Enter')
  await page.getByRole('textbox', { name: 'Key' }).waitFor()
  await tabTo(page, 'I have kept it')
  await press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByText('Night shift').waitFor()

  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  await keys('gc')
  await page.getByRole('link', { name: 'On call' }).waitFor()
  await tabTo(page, 'Add channel')
  await press('Enter')
  await tabTo(page, /^Webhook/)
  await press('Enter')
  await tabTo(page, /^(URL|Address)/)
  await keys('https://hooks.example.com/by-keys')
  await press('Enter')
  await page.getByRole('dialog').waitFor()
  await press('Escape')
  const { body: listed } = await at.service.request('GET', '/api/v1/channels', { key: owner.key })
  expect((listed as { channels: unknown[] }).channels).toHaveLength(2) // safe: 200
  expectClean(opened)
}, 120_000)
