import type { Browser } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  eventually,
  expectClean,
  type Look,
  type ServedHub,
  serveHub,
  sharedBrowser,
  visit,
} from './browser.ts'
import { expectSpoken, readVocabulary } from './words.ts'

let hub: ServedHub
let browser: Browser
beforeAll(async () => {
  browser = await sharedBrowser()
})
beforeEach(async () => {
  hub = await serveHub()
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  for (const name of ['Ayşe Yılmaz', 'Mehmet Kaya', 'Zeynep Çelik']) {
    await hub.call('POST', 'lead/quick_add', { slug: 'demir', data: { name } })
  }
})
afterEach(() => hub?.close())

const stageOf = async (name: string) =>
  (await hub.query<{ stage: string }>('select stage from hub.leads where name = $1', [name]))[0]
    ?.stage

const openBoard = (look: Look = {}) => visit(browser, hub, '/hub/p/demir/sales', look)

test('a card is moved two stages by keyboard, and Esc puts it back', async () => {
  const opened = await openBoard()
  const { page } = opened
  const card = page.getByRole('button', { name: /Ayşe Yılmaz/ })
  await card.focus()
  await page.keyboard.press('Space')
  await page.getByText('Ayşe Yılmaz picked up, over New').waitFor({ state: 'attached' })
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowRight')
  await page.getByText('Ayşe Yılmaz picked up, over Replied').waitFor({ state: 'attached' })
  await page.keyboard.press('Space')
  await eventually(() => stageOf('Ayşe Yılmaz')).toBe('replied')
  await page.locator('[data-stage=replied]').getByText('Ayşe Yılmaz').waitFor()
  await eventually(() => card.evaluate((node) => node === document.activeElement)).toBe(true)

  await page.keyboard.press('Space')
  await page.getByText('Ayşe Yılmaz picked up, over Replied').waitFor({ state: 'attached' })
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Escape')
  await page.getByText('Ayşe Yılmaz was put back').waitFor({ state: 'attached' })
  await page.locator('[data-stage=replied]').getByText('Ayşe Yılmaz').waitFor()
  expect(await stageOf('Ayşe Yılmaz')).toBe('replied')
  expectClean(opened)
})

test('arrow keys walk over the cards, and Enter opens one', async () => {
  const opened = await openBoard()
  const { page } = opened
  await page.keyboard.press('j')
  await page.keyboard.press('ArrowDown')
  const second = page.locator('[data-stage=new] [data-card]').nth(1)
  expect(await second.evaluate((node) => node === document.activeElement)).toBe(true)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: /^Lead / }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: /^Lead / }).waitFor({ state: 'hidden' })
  expectClean(opened)
})

test('a card is dragged into another column', async () => {
  const opened = await openBoard()
  const { page } = opened
  const card = await page.getByRole('button', { name: /Mehmet Kaya/ }).boundingBox()
  const column = await page.locator('[data-stage=meeting]').boundingBox()
  if (!card || !column) throw new Error('the board is not laid out')
  await page.mouse.move(card.x + 40, card.y + 20)
  await page.mouse.down()
  await page.mouse.move(card.x + 80, card.y + 30, { steps: 4 })
  await page.mouse.move(column.x + 60, column.y + 80, { steps: 8 })
  await page.mouse.up()
  await eventually(() => stageOf('Mehmet Kaya')).toBe('meeting')
  expect(await page.getByRole('dialog').count()).toBe(0)
  expectClean(opened)
})

test('what the hub refuses goes back to where it was, and says why', async () => {
  const opened = await openBoard()
  const { page } = opened
  await page.route('**/lead/update', (route) =>
    route.fulfill({
      status: 402,
      contentType: 'application/problem+json',
      body: JSON.stringify({
        type: 'https://watchpost.dev/problems/license_limit',
        title: 'License limit',
        status: 402,
        code: 'license_limit',
        detail: 'This project is read-only.',
        request_id: 'r',
      }),
    }),
  )
  await page.getByRole('button', { name: /Zeynep Çelik/ }).focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Space')
  await page.getByText('This project is read-only.').waitFor()
  await page.locator('[data-stage=new]').getByText('Zeynep Çelik').waitFor()
  expect(await stageOf('Zeynep Çelik')).toBe('new')
  expectClean(opened)
})

test('in Turkish every stage and every announcement of a move is Turkish', async () => {
  const stages = ['new', 'contacted', 'replied', 'meeting', 'proposal', 'won', 'lost']
  for (const stage of stages) {
    await hub.query(
      `insert into hub.leads (project_id, name, stage) select id, $1, $2 from hub.projects`,
      [`Veri ${stage}`, stage],
    )
  }
  await hub.query(
    `insert into hub.tasks (project_id, lead_id, title)
     select project_id, id, 'Veri' from hub.leads where name = 'Veri new'`,
  )
  const opened = await openBoard({ language: 'tr' })
  const { page } = opened
  const card = page.getByRole('button', { name: /Veri new/ })
  await card.getByText('1 açık iş').waitFor()
  await card.focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowRight')
  await page.getByText('Veri new alındı, üzerinde: İletişim kuruldu').waitFor({ state: 'attached' })
  const data = /Veri|^Demir Lojistik$|^Watchpost Hub$|Ayşe Yılmaz|Mehmet Kaya|Zeynep Çelik/
  await expectSpoken(page, await readVocabulary('tr'), data)
  await page.keyboard.press('Space')
  await page.getByText('Veri new taşındı: İletişim kuruldu').waitFor({ state: 'attached' })
  await eventually(() => stageOf('Veri new')).toBe('contacted')
  expectClean(opened)
})
