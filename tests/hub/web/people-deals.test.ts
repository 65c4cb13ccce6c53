import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  eventually,
  expectAccessible,
  expectClean,
  expectNoSideways,
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
  await add({ name: 'Can Demir' })
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
  await page.getByRole('heading', { name: 'Merged in the last 30 days' }).waitFor()
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

test.each([
  ['en', 'Timeline', 'Undo: AYŞE YILMAZ went into Ayşe Yılmaz', 'Make them two again'],
  ['tr', 'Geçmiş', 'Geri al: AYŞE YILMAZ → Ayşe Yılmaz', 'Yeniden ayır'],
] as const)('a merge is undone on the timeline (%s)', async (language, tab, undo, submit) => {
  const [kept] = await hub.query<{ id: string }>("select id from hub.leads where name ilike 'ay%'")
  const opened = await visit(browser, hub, `/hub/p/demir/leads?lead=${kept?.id}`, { language })
  const { page } = opened
  await page.getByRole('tab', { name: tab }).click()
  await page.getByRole('button', { name: undo }).click()
  const dialog = page.getByRole('dialog', { name: /^Undo this merge|^Bu birleştirme geri/ })
  await dialog.getByRole('button', { name: submit }).click()
  await page.getByText(/^The two leads are two again|^İki aday yeniden ayrı/).waitFor()
  await page.getByRole('button', { name: undo }).waitFor({ state: 'detached' })
  const both = await hub.query<{ id: string; email: string | null }>(
    "select id, email from hub.leads where name ilike 'ay%' order by email",
  )
  expect(both.map(({ email }) => email)).toEqual(['ayse@yilmaz.example', null])
  expectClean(opened)
  // Merged again for what comes next.
  const [gone, first] = both
  await hub.call('POST', 'lead/merge', { kept_id: first?.id, gone_id: gone?.id })
})

test('a merge is undone at once, or from the record of it', async () => {
  const opened = await visit(browser, hub, '/hub/p/demir/leads/duplicates')
  const { page } = opened
  await page.getByRole('button', { name: /^Undo: AYŞE/ }).click()
  await page.getByRole('button', { name: 'Make them two again' }).click()
  await page.getByText('Undone', { exact: true }).first().waitFor()
  await page.getByRole('checkbox', { name: 'Choose Ayşe Yılmaz', exact: true }).first().check()
  await page.getByRole('checkbox', { name: 'Choose AYŞE YILMAZ', exact: true }).first().check()
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Merge' }).click()
  await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
  await eventually(() => hub.query("select from hub.leads where name ilike 'ay%'")).toHaveLength(2)
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

test.each([
  {
    look: { language: 'tr', locale: 'en-US', theme: 'dark', isPhone: true },
    words: { close: 'Beklenen sonuç', tasks: 'Yapılacaklar', due: 'Tarih', add: 'Ekle' },
    calendar: ['Takvimden seç', '5 Mart 2027 Cuma, seçili'],
    shown: ['27.11.2026', '05.03.2027'],
    unreadable: /^Beklenen sonuç: 31\.12\.\d{4} gibi bir tarih girin\.$/,
    past: /^Tarih: \d\d\.\d\d\.\d{4} veya daha sonraki bir tarih girin\.$/,
    typed: '07032099',
  },
  {
    look: { language: 'en', locale: 'tr-TR', theme: 'light', isPhone: false },
    words: { close: 'Expected close', tasks: 'Tasks', due: 'Due', add: 'Add task' },
    calendar: ['Choose from a calendar', 'Friday, March 5, 2027, selected'],
    shown: ['11/27/2026', '03/05/2027'],
    unreadable: /^Expected close: enter a date such as 12\/31\/\d{4}\.$/,
    past: /^Due: enter \d\d\/\d\d\/\d{4} or a later date\.$/,
    typed: 'Mar 7, 2099',
  },
] as const)(
  'on a page in $look.language a day is written in that language, whatever the browser speaks',
  async ({ look, words, calendar: [open, day], shown, unreadable, past, typed }) => {
    const [lead] = await hub.query<{ id: string }>(
      "update hub.leads set close_on = '2026-11-27' where name = 'Can Demir' returning id",
    )
    const closeOn = async () => {
      const [row] = await hub.query('select close_on::text from hub.leads where id = $1', [
        lead?.id,
      ])
      return row?.close_on
    }
    const opened = await visit(browser, hub, `/hub/p/demir/leads?lead=${lead?.id}`, look)
    const { page } = opened
    const close = page.getByRole('textbox', { name: words.close, exact: true })
    expect(await close.inputValue()).toBe(shown[0])
    await close.fill('31.2.2027')
    await close.press('Enter')
    await page.getByText(unreadable).waitFor()
    expect(await close.getAttribute('aria-invalid')).toBe('true')
    await expectAccessible(page)
    if (look.isPhone) await expectNoSideways(page)
    // What is pasted comes in one piece.
    await close.selectText()
    await page.keyboard.insertText('2027-03-05')
    await close.press('Enter')
    await eventually(() => close.inputValue()).toBe(shown[1])
    await eventually(closeOn).toBe('2027-03-05')
    expect(await close.getAttribute('aria-invalid')).toBe(null)
    // The calendar begins at that day, and its keys choose another.
    const calendar = page.getByRole('button', { name: open })
    await calendar.click()
    await eventually(() => page.evaluate(() => document.activeElement?.ariaLabel)).toBe(day)
    await expectAccessible(page)
    if (look.isPhone) await expectNoSideways(page)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await eventually(closeOn).toBe('2027-03-12')
    await page.getByRole('grid').waitFor({ state: 'detached' })
    await calendar.press('Enter')
    await page.getByRole('grid').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('grid').waitFor({ state: 'detached' })
    await close.fill('')
    await close.blur()
    await eventually(closeOn).toBe(null)

    await page.getByRole('tab', { name: words.tasks }).click()
    await page.getByRole('textbox', { name: words.add }).fill(`Call in ${look.language}`)
    await page.getByLabel(words.due, { exact: true }).selectOption('other')
    const due = page.getByRole('textbox', { name: words.due, exact: true })
    await due.fill('01.02.2020')
    await due.press('Enter')
    await page.getByText(past).waitFor()
    await due.fill(typed)
    await due.press('Enter')
    const title = `Call in ${look.language}`
    await eventually(() =>
      hub.query('select due_on::text from hub.tasks where title = $1', [title]),
    ).toEqual([{ due_on: '2099-03-07' }])
    expectClean(opened)
  },
)

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
