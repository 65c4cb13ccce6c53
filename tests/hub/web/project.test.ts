import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { labelText } from '../../../hub/agents/numbers/labels.text.ts'
import {
  eventually,
  expectClean,
  type ServedHub,
  serveHub,
  sharedBrowser,
  visit,
  walkTo,
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
})
afterEach(() => hub?.close())

test('the numbers, the project and refusals are shown in Turkish', async () => {
  await hub.query(
    `with project as (select id from hub.projects),
     mission as (
       insert into hub.missions (project_id, department, task, status, finished_at)
       select id, 'docs', 'Veri', status, now()
       from project, unnest(array['queued', 'done', 'failed', 'cancelled']) as status
     ),
     draft as (
       insert into hub.drafts (project_id, audience, state, subject)
       select id, '{"kind": "list"}', state, 'Veri'
       from project, unnest(array['draft', 'rendered', 'sent', 'unclear', 'rejected']) as state
       returning id, project_id
     )
     insert into hub.recipients (draft_id, project_id, email, state, sent_at, opened_at, replied_at)
     select id, project_id, 'veri@firma.example', 'sent', now(), now(), now() from draft`,
  )
  const opened = await visit(browser, hub, '/hub/p/demir/numbers', { language: 'tr' })
  const { page } = opened
  const vocabulary = await readVocabulary('tr')
  const data = /Veri|^Demir Lojistik\.?$|^demir$|^demir\.example$|^Watchpost Hub$|^\d+ \p{L}+$/u
  await page.getByText('toplam 5').waitFor()
  await expectSpoken(page, vocabulary, data)

  await walkTo(page, '/hub/p/demir/project')
  await page.getByLabel('Web sitesi').fill('bir adres değil')
  await page.getByRole('button', { name: 'Değişiklikleri kaydet' }).click()
  await page.getByText('Biçimi doğru değil.').waitFor()
  await expectSpoken(page, vocabulary, data)
  await page.getByRole('button', { name: 'Projeyi sil' }).click()
  const dialog = page.getByRole('dialog', { name: 'Projeyi sil' })
  await dialog.getByLabel('Silmek için Demir Lojistik yazın').fill('demir')
  await dialog.getByRole('button', { name: 'Bu projeyi sil' }).click()
  await dialog.getByText('Silmek için projenin adını yazın.').waitFor()
  await dialog.getByRole('button', { name: 'Vazgeç' }).click()

  await page.keyboard.press('Control+k')
  await page.keyboard.type('proje')
  await page.getByRole('option', { name: /Proje oluştur/ }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Ad', { exact: true }).fill('Veri')
  await form.getByRole('button', { name: 'Proje oluştur' }).click()
  await form.getByText(/Ayarlar > Lisans/).waitFor()
  await expectSpoken(page, vocabulary, data)
  expectClean(opened)
}, 90_000)

test('on a phone the pipeline by week and the sequences are read without scrolling sideways', async () => {
  await hub.query(
    `insert into hub.leads (project_id, name, stage, amount, currency, closed_at)
     select id, stage, stage, 1234567.5, currency, now()
     from hub.projects, unnest(array['won', 'lost']) as stage, unnest(array['EUR', 'TRY']) as currency`,
  )
  await hub.query(
    `with one as (
       insert into hub.sequences (project_id, name, state, send_window, started_at)
       select id, 'Gayrimenkuldeğerlendirmeşirketlerinegönderilenilktanıtımdizisi ve hatırlatmaları', 'running', '{}', now()
       from hub.projects returning id, project_id
     ),
     people as (
       insert into hub.sequence_recipients (sequence_id, project_id, email, time_zones, state, stop_reason)
       select id, project_id, n || '@firma.example', '{UTC}', case when n = 1 then 'active' else 'stopped' end, why
       from one, unnest(array[null, 'replied', 'replied', 'opted_out', 'left_out']) with ordinality as of (why, n)
     ),
     steps as (
       insert into hub.drafts (project_id, audience, state, sequence_id, step, wait_days)
       select project_id, '{"kind": "list", "filter": {}}', 'draft', id, step, step - 1
       from one, generate_series(1, 2) as step
       returning id, project_id, step
     )
     insert into hub.recipients (draft_id, project_id, email, state, sent_at, replied_at)
     select id, project_id, n || '@firma.example', 'sent', now(), case when n = 1 and step = 1 then now() end
     from steps, generate_series(1, 3) as n where n > step - 1`,
  )
  const look = { language: 'tr', isPhone: true } as const
  const { page } = await visit(browser, hub, '/hub/p/demir/numbers', look)
  const weeks = page.getByRole('list', { name: 'Haftalara göre satış hattı' })
  await eventually(() => weeks.getByRole('listitem').count()).toBe(12)
  const values = weeks.getByRole('listitem').first().locator('dl > div')
  expect(await values.allTextContents()).toEqual([
    'Yeni adaylar4',
    `${labelText.tr.stages.contacted}0`,
    `${labelText.tr.stages.replied}0`,
    `${labelText.tr.stages.won}2`,
    `${labelText.tr.stages.lost}2`,
    'Kazanılan tutar€1.234.567,50 + ₺1.234.567,50',
    'Kaybedilen tutar€1.234.567,50 + ₺1.234.567,50',
  ])
  const sequences = page.getByRole('list', { name: 'Diziler' })
  expect(await sequences.getByRole('listitem').locator('dl > div').allTextContents()).toEqual([
    'Alıcılar4 (dışarıda: 1)',
    'Dizide1',
    'Bütün e-postaları aldı0',
    'Ayrıldı3 (yanıt verdi: 2, artık istemedi: 1)',
    'Diziye yanıt veren1',
    'Gönderilen e-postalar1. adım: 3, 2. adım: 2',
  ])
  for (const list of [weeks, sequences]) {
    const card = page.locator('section', { has: list }).last()
    const wide = await card.evaluate((section) =>
      [section, ...section.querySelectorAll('*')]
        .filter(
          (one) => one.scrollWidth > one.clientWidth && getComputedStyle(one).display !== 'inline',
        )
        .map((one) => one.outerHTML.slice(0, 200)),
    )
    expect(wide).toEqual([])
  }
})

test('what agents read is changed on the page, and a project is deleted by typing its name', async () => {
  const opened = await visit(browser, hub, '/hub/p/demir/project')
  const { page } = opened
  await page.getByLabel('Tone of voice').fill('Warm and short.')
  await page.getByLabel('Website').fill('not an address')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.locator('[aria-invalid=true]').waitFor()
  await page.getByLabel('Website').fill('demir.example')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('The project was saved').waitFor()
  const context = join(hub.paths.data_dir, 'projects/demir/CONTEXT.md')
  expect(await readFile(context, 'utf8')).toContain('Warm and short.')

  // A mailing list is offered only where listmonk is set up.
  await walkTo(page, '/hub/p/demir/project/brand')
  await page.getByRole('heading', { name: 'Footer' }).waitFor()
  expect(await page.getByRole('button', { name: 'Create list' }).count()).toBe(0)
  await walkTo(page, '/hub/p/demir/project')

  await page.getByRole('button', { name: 'Delete project' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete project' })
  await dialog.getByLabel('Type Demir Lojistik to delete it').fill('demir')
  await dialog.getByRole('button', { name: 'Delete this project' }).click()
  await dialog.getByText('Type the name of the project to delete it.').waitFor()
  await dialog.getByLabel('Type Demir Lojistik to delete it').fill('Demir Lojistik')
  await dialog.getByRole('button', { name: 'Delete this project' }).click()
  await page.getByText(/Project deleted\. Its archive is/).waitFor()
  await eventually(async () => (await hub.query('select from hub.projects')).length).toBe(0)
  expectClean(opened)
})

test('code is uploaded on the page Documents, which says its limits and what it refused', async () => {
  const opened = await visit(browser, hub, '/hub/p/demir/documents', { language: 'tr' })
  const { page } = opened
  await page.getByRole('button', { name: 'Kod yükle' }).click()
  const dialog = page.getByRole('dialog', { name: 'Kod yükle' })
  await dialog.getByText('Bir ZIP arşivinde en çok 500 öğe').waitFor()
  const files = [
    { name: 'sefer.py', mimeType: 'text/x-python', buffer: Buffer.from('print(1)\n') },
    { name: 'logo.png', mimeType: 'image/png', buffer: Buffer.from([0, 1, 2]) },
  ]
  await dialog.getByLabel('Dosyalar ya da ZIP arşivleri').setInputFiles(files)
  await dialog.getByLabel('code/ altındaki klasör').fill('araç')
  await dialog.getByRole('button', { name: 'Yükle', exact: true }).click()
  await dialog.getByText('1 dosya code/ klasöründe').waitFor()
  await dialog.getByText('logo.png').waitFor()
  await dialog.getByText('UTF-8 metin değil').waitFor()
  await dialog.getByRole('button', { name: 'Tamam' }).click()
  await page.getByRole('link', { name: 'sefer.py' }).click()
  await page.getByText('print(1)').waitFor()
  expectClean(opened)
})
