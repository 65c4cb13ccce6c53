import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  eventually,
  expectClean,
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
  hub = await serveHub()
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  const add = (data: object) => hub.call('POST', 'lead/quick_add', { slug: 'demir', data })
  await add({ name: 'Ayşe Yılmaz', company: 'Yılmaz Gıda', stage: 'proposal' })
  await add({ name: 'AYŞE YILMAZ', email: 'ayse@yilmaz.example', amount: 1500, currency: 'EUR' })
  await add({ name: 'Mehmet Kaya', email: 'mehmet@kaya.example' })
})
afterAll(() => hub?.close())

test('two leads are compared and merged, and the record of it stays', async () => {
  const opened = await visit(browser, hub, '/hub/p/demir/leads/duplicates')
  const { page } = opened
  await page.getByRole('checkbox', { name: 'Choose Ayşe Yılmaz', exact: true }).first().check()
  await page.getByRole('checkbox', { name: 'Choose AYŞE YILMAZ', exact: true }).first().check()
  await page.getByRole('button', { name: 'Compare' }).click()
  const dialog = page.getByRole('dialog', { name: 'Merge two leads' })
  await dialog.getByRole('radio', { name: 'Stage: Proposal' }).check()
  await dialog.getByRole('button', { name: 'Merge' }).click()
  await page.getByText('The two leads are one now').waitFor()
  await page.getByRole('heading', { name: 'Merged before' }).waitFor()
  expect(
    await hub.query(
      "select stage, email, company, amount::float8 from hub.leads where name ilike 'ay%'",
    ),
  ).toEqual([
    { stage: 'proposal', email: 'ayse@yilmaz.example', company: 'Yılmaz Gıda', amount: 1500 },
  ])
  const data = /yılmaz|demir|kaya|^D$|watchpost|ago|now/i
  await expectSpoken(page, await readVocabulary('en'), data)
  expectClean(opened)
})

test('a legitimate interest is set together with its note', async () => {
  const [kaya] = await hub.query<{ id: string }>("select id from hub.leads where name ilike 'meh%'")
  const opened = await visit(browser, hub, `/hub/p/demir/leads?lead=${kaya?.id}`)
  const { page } = opened
  await page.getByLabel('Lawful basis', { exact: true }).selectOption('legitimate_interest')
  const note = page.getByLabel('Which interest', { exact: true })
  await note.fill('He asked for an offer')
  await note.press('Enter')
  await eventually(() =>
    hub.query('select lawful_basis, basis_note from hub.leads where id = $1', [kaya?.id]),
  ).toEqual([{ lawful_basis: 'legitimate_interest', basis_note: 'He asked for an offer' }])
  expectClean(opened)
})

test('a person is found, erased only by the typed address, and stands in the ledger as a hash', async () => {
  const opened = await visit(browser, hub, '/hub/settings/people', { language: 'tr' })
  const { page } = opened
  await page.getByLabel('Kişinin e-postası').fill('mehmet@kaya.example')
  await page.getByRole('button', { name: 'Bul', exact: true }).click()
  await page.getByRole('button', { name: 'Bu kişiyi sil' }).click()
  const dialog = page.getByRole('dialog', { name: 'Bu kişiyi sil' })
  const erase = dialog.getByRole('button', { name: 'Bu kişiyi sil' })
  expect(await erase.isDisabled()).toBe(true)
  await dialog.getByLabel(/^Kişinin adresini yazın/).fill('mehmet@kaya.example')
  await erase.click()
  await page.getByText(/^Kişi silindi: 1 aday/).waitFor()
  await eventually(async () => page.getByRole('row').count()).toBeGreaterThan(1)
  expect(await hub.query("select from hub.leads where email = 'mehmet@kaya.example'")).toEqual([])
  expectClean(opened)
})
