import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  eventually,
  expectClean,
  open,
  type ServedHub,
  serveHub,
  settled,
  signIn,
  startBrowser,
} from './browser.ts'

let hub: ServedHub
let browser: Browser
beforeAll(async () => {
  hub = await serveHub({ start: true })
  browser = await startBrowser()
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir Lojistik' })
})
afterAll(async () => {
  await browser?.close()
  await hub?.close()
})

async function openLeads(path = '') {
  const opened = await open(browser, hub.origin)
  await signIn(hub, opened)
  await opened.page.goto(`/hub/p/demir/leads${path}`)
  await settled(opened.page)
  return opened
}

test('a file of 500 leads is mapped, imported with a progress bar and shown', async () => {
  const opened = await openLeads()
  const { page } = opened
  const rows = Array.from({ length: 500 }, (_, at) =>
    [`Kişi ${at}`, `kisi${at}@firma${at % 40}.example`, `Firma ${at % 40}`, 'Marmara'].join(';'),
  )
  rows[7] = 'Yanlış;bu bir adres değil;Firma;Ege'
  const file = ['Ad Soyad;E-posta;Şirket;Bölge', ...rows].join('\r\n')
  await page.getByRole('button', { name: 'Import' }).click()
  await page.locator('input[type=file]').setInputFiles({
    name: 'fuar.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(file),
  })
  const dialog = page.getByRole('dialog', { name: 'Import leads' })
  await eventually(() => dialog.getByLabel('Is: E-posta').inputValue()).toBe('email')
  expect(await dialog.getByLabel('Is: Şirket').inputValue()).toBe('company')
  await dialog.getByLabel('Is: Bölge').selectOption('country')
  await dialog.getByLabel('Tags for all of them').fill('fuar 2026')
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByRole('progressbar').waitFor()
  await dialog.getByText('Imported').waitFor()
  await dialog.getByText('499 new leads').waitFor()
  await dialog.getByText('1 row with mistakes').waitFor()
  await dialog.getByText('Row 9').waitFor()
  await dialog.getByRole('button', { name: 'Show the leads' }).click()
  await eventually(() => page.locator('[data-lead]').count()).toBeGreaterThanOrEqual(100)
  expectClean(opened)
})

test('the filter stands in the address and folds Turkish letters', async () => {
  const opened = await openLeads()
  const { page } = opened
  await page.getByRole('textbox', { name: 'Filter leads' }).fill('kisi 42')
  await page.waitForURL(/q=kisi/)
  await eventually(() => page.locator('[data-lead]').first().textContent()).toBe('Kişi 42')
  await page.reload()
  await settled(page)
  expect(await page.getByRole('textbox', { name: 'Filter leads' }).inputValue()).toBe('kisi 42')
  await page.getByLabel('Stage').selectOption('won')
  await page.getByText('Nobody fits this filter').waitFor()
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await eventually(() => page.locator('[data-lead]').count()).toBeGreaterThan(50)
  expectClean(opened)
})

test('leads are selected by keys and moved in bulk; a deletion can be undone', async () => {
  const opened = await openLeads()
  const { page } = opened
  const names = await page.locator('[data-lead]').allInnerTexts()
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await page.getByText('2 selected').waitFor()
  await page.getByRole('button', { name: 'Set stage' }).click()
  await page.getByRole('menuitem', { name: 'Meeting' }).click()
  await page.getByText('2 leads are Meeting now').waitFor()
  const moved = await hub.query<{ name: string }>(
    `select name from hub.leads where stage = 'meeting' order by name`,
  )
  expect(moved.map(({ name }) => name)).toEqual(names.slice(0, 2).sort())

  await page.getByLabel(`Select ${names[0]}`, { exact: true }).check()
  await page.getByRole('region', { name: 'Selected leads' }).getByText('Delete').click()
  await page
    .getByRole('button', { name: `${names[0]}`, exact: true })
    .waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: `${names[0]}`, exact: true }).waitFor()
  expectClean(opened)
})

test('a lead named like HTML stays text, in the list, its panel, the board and the search', async () => {
  const opened = await openLeads()
  const { page } = opened
  const evil = '<img src=x onerror=alert(1)>'
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'Add lead' })
  await dialog.getByLabel('Name', { exact: true }).fill(evil)
  await dialog.getByLabel('Company').fill('<script>alert(2)</script>')
  await dialog.getByLabel('Website').fill('javascript:alert(3)')
  await dialog.getByRole('button', { name: 'Add lead' }).click()
  await dialog.getByText('This is no http or https address.').waitFor()
  await dialog.getByLabel('Website').fill('')
  await dialog.getByRole('button', { name: 'Add lead' }).click()
  const panel = page.getByRole('dialog', { name: `Lead ${evil}` })
  await panel.getByRole('heading', { name: evil }).waitFor()
  await panel.getByRole('tab', { name: 'Notes' }).click()
  await panel.getByLabel('Write a note').fill('<b onmouseover=alert(4)>bold</b>')
  await panel.getByRole('button', { name: 'Add note' }).click()
  await panel.getByRole('listitem').getByText('<b onmouseover=alert(4)>bold</b>').waitFor()
  await panel.getByRole('tab', { name: 'Timeline' }).click()
  await panel.getByText('Note written').waitFor()
  await page.goto('/hub/p/demir/sales')
  await page.getByText(evil).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('onerror')
  await page.getByRole('option').getByText(evil).first().waitFor()
  expect(await page.locator('img[src="x"]').count()).toBe(0)
  expectClean(opened)
})

test('the same e-mail again offers the lead that has it', async () => {
  const opened = await openLeads('?do=add')
  const { page } = opened
  const dialog = page.getByRole('dialog', { name: 'Add lead' })
  await dialog.getByLabel('E-mail').fill('KISI42@firma2.example')
  await dialog.getByRole('button', { name: 'Add lead' }).click()
  await dialog.getByRole('button', { name: 'Open that lead' }).click()
  await page.getByRole('dialog', { name: 'Lead Kişi 42' }).waitFor()
  expectClean(opened)
})
