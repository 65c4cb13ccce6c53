import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROOF } from '../../support/proof.ts'
import {
  expectAccessible,
  expectClean,
  expectNoSideways,
  open,
  type ServedHub,
  serveHub,
  settled,
  sharedBrowser,
  signIn,
  visit,
  walkTo,
} from './browser.ts'
import { readVocabulary, strangers, wordsOn } from './words.ts'

/** Every page and what floats over it; a new page is added here. */
const PAGES: [string, string][] = [
  ['today', '/hub/p/demir/today'],
  ['leads', '/hub/p/demir/leads'],
  ['a filter that finds nobody', '/hub/p/demir/leads?stage=lost'],
  ['a lead', '/hub/p/demir/leads?lead=$lead'],
  ['adding a lead', '/hub/p/demir/leads?do=add'],
  ['importing leads', '/hub/p/demir/leads?do=import'],
  ['the board', '/hub/p/demir/sales'],
  ['the numbers', '/hub/p/demir/numbers'],
  ['no drafts', '/hub/p/demir/drafts'],
  ['no approvals', '/hub/p/demir/queue'],
  ['no mail', '/hub/p/demir/inbox'],
  ['no missions', '/hub/p/demir/missions'],
  ['composing a mission', '/hub/p/demir/missions?do=compose'],
  ['the project', '/hub/p/demir/project'],
  ['leads of an empty project', '/hub/p/kaya/leads'],
  ['the board of an empty project', '/hub/p/kaya/sales'],
  ['what is not there', '/hub/p/nowhere/today'],
  ['a step of the wizard', '/hub/welcome/model'],
  ['the license in the wizard', '/hub/welcome/license'],
  ['mail in the wizard', '/hub/welcome/mail'],
  ['the first project in the wizard', '/hub/welcome/project'],
  ['the sign-in', '/hub/login'],
]
/** Data has this word, or is an address or a number. */
const DATA =
  /Veri|@|https?:|watchpost|^Türkçe$|^English$|^Watchpost Hub$|wph_service|demir\.example|^demir$|firma\.example|GGUF|Qwen|Apache|^(bugün|yarın|\d+ gün sonra|today|tomorrow|in \d+ days)$/u

let hub: ServedHub
let browser: Browser
let lead: string
beforeAll(async () => {
  hub = await serveHub()
  browser = await sharedBrowser()
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Veri Lojistik' })
  await hub.query(`insert into hub.projects (slug, name) values ('kaya', 'Veri Tekstil')`)
  for (const [at, stage] of ['new', 'contacted', 'replied', 'won'].entries()) {
    const data = {
      name: `Veri Kişi ${at}`,
      email: `veri${at}@firma.example`,
      company: 'Veri Nakliyat ve Depolama Hizmetleri Limited Şirketi',
      title: 'Veri Müdürü',
      stage,
      tags: ['Veri'],
      score: 40 + at,
    }
    const made = await hub.call('POST', 'lead/quick_add', { slug: 'demir', data })
    lead = (await made.json()).lead.id
  }
  await hub.call('POST', 'lead/note', { lead_id: lead, text: 'Veri notu' })
  await hub.call('POST', 'lead/task', { lead_id: lead, title: 'Veri işi', due_on: '2026-01-02' })
  await hub.query(
    `insert into hub.evidence (project_id, lead_id, fact, quote, source)
     select project_id, id, 'Veri: 40 kamyon', 'Veri alıntı', 'https://firma.example/filo'
     from hub.leads where id = $1`,
    [lead],
  )
})
afterAll(async () => {
  await hub?.close()
})

/**
 * Each theme, each language and each width; the long form adds English on a desktop in the dark.
 * On a desktop each page is loaded by itself, on a phone it is come to from the one before.
 */
const LOOKS = [
  { theme: 'light', language: 'tr', isPhone: false },
  { theme: 'dark', language: 'tr', isPhone: true },
  ...(PROOF ? [{ theme: 'dark', language: 'en', isPhone: false } as const] : []),
] as const

describe.each(LOOKS)('in the $theme theme, in $language, phone: $isPhone', (look) => {
  test('every page is accessible, stays at home, and speaks one language', async () => {
    const opened = await open(browser, hub.origin, look)
    await signIn(hub, opened)
    const { page } = opened
    const vocabulary = await readVocabulary(look.language)
    const foreign: Record<string, string[]> = {}
    const seen = new Set<string>()
    for (const [at, [name, path]] of PAGES.entries()) {
      const to = path.replace('$lead', lead)
      if (look.isPhone && at > 0) await walkTo(page, to)
      else await page.goto(to)
      await settled(page)
      if (path.includes('$lead')) {
        for (const tab of await page.getByRole('tab').all()) {
          await tab.click()
          await settled(page)
          await expectAccessible(page)
          Object.assign(foreign, notes(`${name}, a tab`, await wordsOn(page)))
        }
      }
      expect(await page.locator('html').getAttribute('lang')).toBe(look.language)
      await expectAccessible(page)
      if (look.isPhone) await expectNoSideways(page)
      const said = await wordsOn(page)
      Object.assign(foreign, notes(name, said))
      seen.add(said.join('\n'))
    }
    expect(foreign).toEqual({})
    // Each was there when it was looked at: no two say the same.
    expect(seen.size).toBe(PAGES.length)
    expectClean(opened)

    function notes(name: string, said: string[]) {
      const found = strangers(said, vocabulary, DATA)
      return found.length > 0 ? { [name]: found } : {}
    }
  }, 240_000)
})

test('menus, the search and the keys open by keyboard and are accessible', async () => {
  const opened = await open(browser, hub.origin)
  await signIn(hub, opened)
  const { page } = opened
  await page.goto('/hub/p/demir/today')
  await settled(page)
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await page.keyboard.press('g')
  await page.keyboard.press('l')
  await page.waitForURL(/\/leads/)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search everything' }).fill('Veri Kisi 3')
  await page
    .getByRole('option', { name: /Veri Kişi 3/ })
    .first()
    .waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Lead Veri Kişi 3' }).waitFor()
  await page.getByRole('button', { name: 'Language, theme and shortcuts' }).click()
  await expectAccessible(page)
  await page.getByRole('menuitem', { name: 'Türkçe' }).click()
  await page.getByRole('link', { name: 'Adaylar' }).waitFor()
  expect(await page.locator('html').getAttribute('lang')).toBe('tr')
  expectClean(opened)
})

test('with the read-only key the page says so before anybody tries', async () => {
  const readOnly = await serveHub({ key: 'public' })
  try {
    const opened = await open(browser, readOnly.origin)
    await signIn(readOnly, opened)
    await readOnly.query(`insert into hub.projects (slug, name) values ('demir', 'Demir')`)
    const { page } = opened
    await page.goto('/hub/p/demir/leads')
    await page.getByText('Only the read-only database key is configured').waitFor()
    expect(await page.getByRole('button', { name: 'Add lead' }).first().isDisabled()).toBe(true)
    await page.getByRole('link', { name: 'Paste the service key' }).waitFor()
    await expectAccessible(page)
    expectClean(opened)
  } finally {
    await readOnly.close()
  }
})

test('a hub that goes away and comes back is noticed, without a reload', async () => {
  const opened = await open(browser, hub.origin)
  await signIn(hub, opened)
  const { page, context } = opened
  await page.goto('/hub/p/demir/today')
  await settled(page)
  await context.route('**/api/**', (route) => route.abort('connectionrefused'))
  await page.getByRole('link', { name: 'Leads' }).click()
  await page.getByText('Reconnecting; what you see').waitFor()
  await context.unroute('**/api/**')
  await page.getByText('The hub is running again.').waitFor()
  await page.getByRole('button', { name: 'Veri Kişi 3' }).waitFor()
  expectClean(opened)
})

test('on a phone Today shows every line whole', async () => {
  const { page } = await visit(browser, hub, '/hub/p/demir/today')
  await page.setViewportSize({ width: 390, height: 844 })
  await settled(page)
  const beyond = await page.evaluate(() =>
    [...document.querySelectorAll('main *')]
      .filter((node) => node.getBoundingClientRect().right > innerWidth)
      .map(({ textContent }) => textContent),
  )
  expect(beyond).toEqual([])
})
