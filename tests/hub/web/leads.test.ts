import { readFile } from 'node:fs/promises'
import type { Browser } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  eventually,
  expectClean,
  type Look,
  type ServedHub,
  serveHub,
  settled,
  sharedBrowser,
  visit,
  walkTo,
} from './browser.ts'
import { KINDS, makeScene } from './scene.ts'
import { expectSpoken, readVocabulary } from './words.ts'

let hub: ServedHub
let browser: Browser
beforeAll(async () => {
  browser = await sharedBrowser()
})
beforeEach(async () => {
  hub = await serveHub({ start: true })
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir Lojistik' })
})
afterEach(() => hub?.close())

/** Kişi 0, Kişi 1 and so on, the last one added first. */
const addLeads = (count: number) =>
  hub.query(
    `insert into hub.leads (project_id, name, email, company)
     select id, 'Kişi ' || at, 'kisi' || at || '@firma.example', 'Firma ' || at
     from hub.projects, generate_series(0, $1 - 1) as at`,
    [count],
  )

const openLeads = (path = '', look: Look = {}) =>
  visit(browser, hub, `/hub/p/demir/leads${path}`, look)

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
  await eventually(() => dialog.getByLabel('Field: E-posta').inputValue()).toBe('email')
  expect(await dialog.getByLabel('Field: Şirket').inputValue()).toBe('company')
  const note = dialog.getByLabel('Which interest, and why it weighs more')
  await dialog.getByLabel('Field: Bölge').selectOption('lawful_basis')
  await dialog.getByText('Also for rows that name a legitimate interest').waitFor()
  await note.fill('They buy what we sell')
  await dialog.getByLabel('Field: Bölge').selectOption('country')
  expect(await note.count()).toBe(0)
  await dialog.getByLabel('Tags for all imported leads').fill('fuar 2026')
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await dialog.getByRole('progressbar').waitFor()
  await dialog.getByText('Imported').waitFor()
  await dialog.getByText('499 new leads').waitFor()
  await dialog.getByText('1 row with mistakes').waitFor()
  await dialog.getByText('Row 9').waitFor()
  await dialog.getByRole('button', { name: 'Show the leads' }).click()
  await eventually(() => page.locator('[data-lead]').count()).toBeGreaterThanOrEqual(100)
  const shown = await page.locator('[data-lead]').count()
  await page.locator('[data-lead]').last().scrollIntoViewIfNeeded()
  await eventually(() => page.locator('[data-lead]').count()).toBeGreaterThan(shown)
  expectClean(opened)
})

test('at every width the table has whole addresses, and leaves out others for them', async () => {
  const cells = ['Gülşah Lindström', 'Karadeniz AŞ', 'gulsah.l@karadeniz.example']
  await hub.query(
    `insert into hub.leads (project_id, name, company, email, tags)
     select id, $1, $2, $3, '{fair}' from hub.projects`,
    cells,
  )
  const opened = await openLeads()
  const { page } = opened
  const expectColumns = async (width: number, ...columns: string[]) => {
    await page.setViewportSize({ width, height: 800 })
    await page.reload()
    await page.locator('[data-lead]').first().waitFor()
    const heads = await page.locator('thead th:visible').allInnerTexts()
    expect(heads.map((head) => head.trim()).filter(Boolean)).toEqual(columns)
    for (const cell of cells) {
      const shown = page.locator('tbody td').getByText(cell, { exact: true }).first()
      const cut = await shown.evaluate((node) => node.scrollWidth - node.clientWidth)
      expect({ width, cell, cut }).toEqual({ width, cell, cut: 0 })
    }
  }
  const first = ['Name', 'Company', 'E-mail', 'Stage']
  await expectColumns(1280, ...first, 'Score', 'Added')
  await expectColumns(1440, ...first, 'Tags', 'Score', 'Added')
  await hub.query("update hub.leads set amount = 1007700, currency = 'EUR'")
  await expectColumns(1280, ...first, 'Amount', 'Added')
  await expectColumns(1440, ...first, 'Amount', 'Score', 'Added')
  const field = (key: string) => ({ key, label: key, kind: 'number', choices: [] })
  const fields = [field('fleet'), field('lanes')]
  await hub.call('PUT', 'leads/fields', { project: 'demir', fields })
  await expectColumns(1280, ...first, 'Amount', 'Added')
  await expectColumns(1440, ...first, 'fleet', 'Amount', 'Added')
  await expectColumns(1920, ...first, 'Tags', 'fleet', 'lanes', 'Amount', 'Score', 'Added')
  expectClean(opened)
})

test('the filter stands in the address and folds Turkish letters', async () => {
  await addLeads(60)
  const opened = await openLeads()
  const { page } = opened
  await page.getByRole('textbox', { name: 'Filter leads' }).fill('kisi 42')
  await page.waitForURL(/q=kisi/)
  await eventually(() => page.locator('[data-lead]').first().textContent()).toBe('Kişi 42')
  await page.reload()
  await settled(page)
  expect(await page.getByRole('textbox', { name: 'Filter leads' }).inputValue()).toBe('kisi 42')
  await page.getByLabel('Stage').selectOption('won')
  await page.getByText('No lead matches this filter').waitFor()
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await eventually(() => page.locator('[data-lead]').count()).toBeGreaterThan(50)
  expectClean(opened)
})

test('leads are selected by keys and moved in bulk; a deletion can be undone', async () => {
  await addLeads(5)
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
  await page.getByText('2 leads moved to Meeting').waitFor()
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
  await dialog.getByText('Must be an http or https address.').waitFor()
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
  await walkTo(page, '/hub/p/demir/sales')
  await page.locator('[data-card]').getByText(evil).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('onerror')
  await page.getByRole('option').getByText(evil).first().waitFor()
  expect(await page.locator('img[src="x"]').count()).toBe(0)
  expectClean(opened)
})

test('a person decides whether a reply asks for no more mail', async () => {
  await addLeads(2)
  await hub.query(
    `with draft as (
       insert into hub.drafts (project_id, audience, state, subject)
       select id, '{"kind": "list"}', 'sent', 'Freight' from hub.projects returning id, project_id
     ), reply as (
       insert into hub.activities (project_id, lead_id, kind, details)
       select draft.project_id, lead.id, 'replied',
         jsonb_build_object('draft_id', draft.id, 'subject', 'Freight', 'opt_out', 'open',
           'text', 'Remove me, or call me.')
       from draft, hub.leads as lead
     )
     insert into hub.recipients (draft_id, project_id, lead_id, email, state, opt_out)
     select draft.id, draft.project_id, lead.id, lead.email, 'sent', 'open'
     from draft, hub.leads as lead`,
  )
  const opened = await visit(browser, hub, '/hub/p/demir/today')
  const { page } = opened
  const question = page.getByRole('heading', { name: 'Does this lead want no more mail?' })
  const decide = async (lead: string, button: string, said: string) => {
    await walkTo(page, '/hub/p/demir/today')
    await page.getByText(`Decide whether ${lead} wants no more mail`).click()
    await question.waitFor()
    await page.getByRole('tab', { name: 'Timeline' }).click()
    await page.getByText('It may ask for no more mail.').waitFor()
    await page.getByRole('button', { name: button }).click()
    await page.getByText(said).waitFor()
    await question.waitFor({ state: 'detached' })
  }
  await decide('Kişi 0', 'Mail may go on', 'Mail may be sent again')
  await page.getByText('Somebody decided that it does not ask for no more mail.').waitFor()
  await decide('Kişi 1', 'No more mail', 'The address gets no more mail')
  await page.getByText('It asks for no more mail.').waitFor()
  await page.getByText('Unsubscribed').waitFor()
  const suppressed = await hub.query<{ reason: string }>('select reason from hub.suppression')
  expect(suppressed).toEqual([{ reason: 'unsubscribed' }])
  expectClean(opened)
})

test('the same e-mail again offers the lead that has it', async () => {
  await addLeads(1)
  const opened = await openLeads('?do=add')
  const { page } = opened
  const dialog = page.getByRole('dialog', { name: 'Add lead' })
  await dialog.getByLabel('E-mail').fill('KISI0@firma.example')
  await dialog.getByRole('button', { name: 'Add lead' }).click()
  await dialog.getByRole('button', { name: 'Open the existing lead' }).click()
  await page.getByRole('dialog', { name: 'Lead Kişi 0' }).waitFor()
  expectClean(opened)
})

describe('in Turkish', () => {
  const look = { language: 'tr' } as const
  /** What the scene and its leads are called, days, and known words put together. */
  const DATA =
    /Veri|^Yeni → İletişim kuruldu$|^Ad, Hukuki dayanak, Telefon$|^Türkçe$|^Demir Lojistik$|^Watchpost Hub$|@|^\d+ \p{L}+( \p{L}+)?$|^(dün|bugün|\d+ gün önce)$/u

  test('an import says what is wrong with its rows, and the file of them does too', async () => {
    const made = await importFile(
      'Veri.csv',
      'Ad;E-posta\nVeri Kişi;veri@firma.example\nVeri;adres',
    )
    const opened = await openLeads(`?do=import&import=${made}`, look)
    const { page } = opened
    const dialog = page.getByRole('dialog', { name: 'Aday aktar' })
    await dialog.getByText('Tüm satırlar okundu.').waitFor()
    await dialog.getByText('E-posta: Geçerli bir e-posta adresi girin.').waitFor()
    await expectSpoken(page, await readVocabulary('tr'), DATA)
    const coming = page.waitForEvent('download')
    await dialog.getByRole('link', { name: 'Hatalı satırları indir' }).click()
    const file = await readFile(await (await coming).path(), 'utf8')
    expect(file).toContain('"satır","hatalar"')
    expect(file).toContain('"E-posta: Geçerli bir e-posta adresi girin."')
    await dialog.getByRole('button', { name: 'Başka dosya seç' }).click()
    await dialog.getByText('CSV dosyasını buraya bırakın').waitFor()
    expectClean(opened)
  })

  test('an import whose file is gone says why it stopped, and what to do', async () => {
    await hub.query(
      `insert into hub.imports (project_id, file, options, status, total)
       select id, 'Veri kayıp.csv', '{}', 'processing', 3 from hub.projects`,
    )
    // The next one sees to those before it.
    await importFile('Veri.csv', 'Ad\nVeri')
    const statusOf = async () =>
      (
        await hub.query<{ status: string }>(
          `select status from hub.imports where file = 'Veri kayıp.csv'`,
        )
      )[0]?.status
    await eventually(statusOf).toBe('failed')
    const opened = await visit(browser, hub, '/hub/p/demir/today', look)
    const { page } = opened
    const action = 'Veri kayıp.csv dosyasının aktarımı neden durdu, bakın'
    await page.getByRole('link', { name: action }).waitFor()
    await expectSpoken(page, await readVocabulary('tr'), DATA)
    await page.getByRole('link', { name: action }).click()
    const dialog = page.getByRole('dialog', { name: 'Aday aktar' })
    await dialog.getByText('Satırların hepsi okunmadı.').waitFor()
    await dialog.getByText('Dosya silinmiş. Yeniden aktarın; daha önce aktarılanlar').waitFor()
    await expectSpoken(page, await readVocabulary('tr'), DATA)
    expectClean(opened)
  }, 90_000)

  test('every kind of activity and of action is worded', async () => {
    const lead = await makeScene(hub)
    const opened = await visit(browser, hub, `/hub/p/veri/leads?lead=${lead}`, look)
    const { page } = opened
    const vocabulary = await readVocabulary('tr')
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click()
      await settled(page)
      await expectSpoken(page, vocabulary, DATA)
    }
    await page.getByRole('tab', { name: 'Geçmiş' }).click()
    await eventually(() => page.getByRole('tabpanel').locator('li').count()).toBe(KINDS.length)
    await page.getByText('Belki artık e-posta istenmiyor.').waitFor()
    expect(await page.getByText('Diğer etkinlik').count()).toBe(0)
    await walkTo(page, '/hub/p/veri/today')
    await page.getByRole('button', { name: /^Tümünü göster/ }).click()
    await expectSpoken(page, vocabulary, DATA)
    expect(await page.locator('section[aria-labelledby=next] li').allInnerTexts()).toEqual([
      'Gönderim duraklatıldı: nedenine bakın, sonra sürdürün',
      '“Veri unclear” gönderildi mi, öğrenin: sunucu hiç doğrulamadı',
      expect.stringMatching(/^Veri işi\s+2 Oca( 2026)? tarihinden beri gecikti$/),
      'Veri Kişi artık e-posta istemiyor mu, karar verin',
      'Veri Yanıt yanıt verdi: yanıtlayın',
      'Okuyup onaylayın: “Veri rendered”',
      'Karar verin: Veri sitesini oku',
      'Onaylanan “Veri approved” taslağını gönderin',
      'Tasarımı olmayan 1 taslağı bitirin',
      'Veri Aday: 9 gündür yanıt yok, yeniden yazın',
      'Veri.csv dosyasındaki 3 satırı düzeltip yeniden aktarın',
      '“Veri araştır” neden başarısız oldu, bakın',
      'Veri Lojistik projesinin göndereni ve posta adresini girin: onlarsız hiçbir şey gönderilmez',
      'Veri Lojistik projesini ajanlara anlatın: eksik: değer önerisi, üslup, kanıtlar, teklifler',
      'Bir model seçin: görevler onu bekliyor',
      'E-postayı kurun: taslaklar onsuz da yazılır ama gönderilemez',
      'Lisansı yenileyin',
    ])
    await page.getByText('Veri Kişi artık e-posta istemiyor mu').click()
    const goOn = page.getByRole('button', { name: 'Posta gidebilir' })
    await eventually(() => goOn.isDisabled()).toBe(true)
    expectClean(opened)
  }, 90_000)

  test('the menu puts the page into English without a reload', async () => {
    await makeScene(hub)
    const opened = await visit(browser, hub, '/hub/p/veri/today', look)
    const { page } = opened
    await page.getByText('Okuyup onaylayın: “Veri rendered”').waitFor()
    await page.evaluate(() => Object.assign(window, { isSamePage: true }))
    await page.getByRole('button', { name: 'Dil, tema ve kısayollar' }).click()
    await page.getByRole('menuitem', { name: 'English' }).click()
    await page.getByText('Read and approve “Veri rendered”').waitFor()
    expect(await page.getByText('Okuyup onaylayın').count()).toBe(0)
    expect(await page.evaluate(() => 'isSamePage' in window)).toBe(true)
    expectClean(opened)
  })
})

/** Starts the import of a file into the project `demir`; answers its id. */
async function importFile(name: string, text: string): Promise<string> {
  const path = `leads/import?project=demir&file_name=${name}`
  const answer = await hub.call('POST', path, text, { 'content-type': 'text/csv' })
  expect(answer.status).toBe(202)
  return (await answer.json()).import.id
}
