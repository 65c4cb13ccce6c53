import type { Browser } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { AGENTS } from '../../../hub/agents/agents.ts'
import { verbatim } from '../../../hub/i18n/words.ts'
import { compose, putFile, reach, tell, until, useTinyModel } from '../support/mission-help.ts'
import { type StubModel, startStubModel, useStub } from '../support/stub-model.ts'
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

const EVIL = '<img src=x onerror=alert(1)>'

/** A busy machine takes its time. */
const SLOW = { timeout: 20_000 }

let hub: ServedHub
let browser: Browser
let stub: StubModel
beforeAll(async () => {
  browser = await sharedBrowser()
})
beforeEach(async () => {
  stub = await startStubModel()
  hub = await serveHub({ start: true })
  await useStub(hub, stub)
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  await hub.call('POST', 'lead/quick_add', { slug: 'demir', data: { name: EVIL } })
  const won = { name: 'Ayşe Yılmaz', stage: 'won' }
  await hub.call('POST', 'lead/quick_add', { slug: 'demir', data: won })
})
afterEach(async () => {
  await hub?.close()
  await stub?.close()
})

const openMissions = (path = '', look = {}) =>
  visit(browser, hub, `/hub/p/demir/missions${path}`, look)

/** A mission that is done, with everything a result can have. */
async function addDone(): Promise<string> {
  await putFile(
    hub,
    'docs/report.md',
    [
      '# Haftalık rapor',
      '',
      `**${EVIL}** ve [bir aday](javascript:alert(2)) için, bkz. [site](https://demir.example).`,
      '',
      '| Hafta | Aday |',
      '| --- | ---: |',
      '| 44 | 12 |',
      '',
      '- birinci',
      '- ikinci, içinde `code`',
      '',
      '<script>alert(3)</script>',
    ].join('\n'),
    'demir',
  )
  const result = {
    summary: 'On iki aday geldi, **çoğu** fuardan.',
    documents: [{ path: 'docs/report.md', title: 'Haftalık rapor' }],
    table: {
      columns: ['Kaynak', 'Aday'],
      rows: [
        ['fuar', 9],
        [EVIL, 2],
        ['web sitesi', 1],
      ],
    },
    chart: { kind: 'bar', x: 'Kaynak', y: 'Aday' },
  }
  const [row] = await hub.query<{ id: string }>(
    `insert into hub.missions (project_id, department, task, status, progress, result, started_at, finished_at)
     select id, 'data', 'Kaç aday geldi, nereden?', 'done', 1, $1,
       now() - interval '42 seconds', now()
     from hub.projects where slug = 'demir' returning id`,
    [JSON.stringify(result)],
  )
  return row?.id ?? ''
}

test('whom a mission is for is shown before it starts, asked where the words do not decide, and changed', async () => {
  for (const data of [
    { name: 'Ali Kaya', company: 'Kaya Nakliyat', email: 'ali@kaya.example' },
    { name: 'Zeynep Kaya', company: 'Işık', email: 'zeynep@isik.example' },
    { name: 'Hans Müller', company: 'Müller GmbH', email: 'hans@mueller.example' },
  ]) {
    await hub.call('POST', 'lead/quick_add', { slug: 'demir', data })
  }
  const opened = await openMissions()
  const { page } = opened
  await page.getByRole('button', { name: 'New mission' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New mission' })
  const recipients = dialog.getByRole('region', { name: 'For whom' })
  const start = dialog.getByRole('button', { name: 'Start' })
  const task = dialog.getByLabel('What needs to be done')
  await task.fill('Write a mail to Kaya')
  await recipients.getByText('“Kaya” fits 2 leads').waitFor()
  expect(await start.isDisabled()).toBe(true)
  await recipients.getByRole('button', { name: 'Add Zeynep Kaya' }).click()
  await recipients.getByText('For 1 lead').waitFor()
  await task.fill('Write a mail to Hans')
  await recipients.getByText('chosen by you').waitFor()
  await recipients.getByRole('button', { name: 'As the text says' }).click()
  await recipients.getByText('The task names Hans.').waitFor()
  await recipients.getByRole('button', { name: 'Change' }).click()
  await recipients.getByLabel('Find a lead to add').fill('zeynep')
  await recipients.getByRole('button', { name: 'Add Zeynep Kaya' }).click()
  await recipients.getByRole('button', { name: 'Remove Hans Müller' }).click()
  await recipients.getByText('For 1 lead').waitFor()
  await expectAccessible(page)
  stub.hold(true)
  await start.click()
  await page.getByRole('article', { name: /Write a mail to Hans/ }).waitFor()
  const [made] = await hub.query<{ input: { lead_ids?: string[] } }>(
    'select input from hub.missions order by created_at desc limit 1',
  )
  const [zeynep] = await hub.query<{ id: string }>(
    "select id from hub.leads where name = 'Zeynep Kaya'",
  )
  expect(made?.input).toEqual({ language: 'en', lead_ids: [zeynep?.id] })
  expectClean(opened)
})

test('plain Turkish words show their agent before they are sent, and the mission is watched', async () => {
  const opened = await openMissions('', { language: 'tr' })
  const { page } = opened
  stub.hold(true)
  await page.getByRole('button', { name: 'Yeni görev' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Yeni görev' })
  const asked = dialog.getByText(/Başlarken model karar verir; isterseniz ajanı siz seçin\./)
  await dialog.getByLabel('Yapılacak iş').fill('Şu işe bir el atın')
  await asked.waitFor()
  expect(await dialog.getByText('Üstlenecek ajan').count()).toBe(0)
  await dialog.getByLabel('Yapılacak iş').fill('Her aşamada kaç aday var? Grafik çiz')
  await dialog.getByText('Üstlenecek ajan: Veri').waitFor()
  expect(await asked.count()).toBe(0)
  await dialog.getByRole('button', { name: 'Başlat' }).click()
  const mission = page.getByRole('article', { name: /Her aşamada kaç aday var/ })
  await mission.getByText('Çalışıyor').first().waitFor()
  await mission.getByRole('button', { name: 'Görevi iptal et' }).click()
  await mission.getByText('İptal edildi').waitFor()
  stub.script(() => ({
    title: 'Aşamalara göre adaylar',
    sql: 'select stage as "Aşama", count(*) as "Aday" from leads group by 1 order by 2 desc',
    chart: 'bar',
  }))
  stub.hold(false)
  await mission.getByRole('button', { name: 'Yeniden dene' }).click()
  await page.getByText('Yeniden deneniyor').waitFor()
  await mission.getByText('Bitti').waitFor()
  await mission.getByRole('columnheader', { name: 'Aşama' }).first().waitFor()
  await mission.getByRole('heading', { name: 'Aşamalara göre adaylar' }).waitFor()
  expect(await page.locator('[data-mission]').count()).toBe(2)
  expectClean(opened)
})

test('what the model writes is shown as it comes', async () => {
  stub.hold(true)
  const made = await hub.call('POST', 'mission/compose', {
    department: 'docs',
    task: 'İade hakkında tek sayfa yaz',
    project: 'demir',
  })
  const { mission } = await made.json()
  const opened = await open(browser, hub.origin)
  const { page, context } = opened
  await signIn(hub, opened)
  await context.route('**/events', (route) =>
    route.fulfill({
      contentType: 'text/event-stream',
      body: `event: tokens\ndata: {"text":"Returns cost "}\n\nevent: tokens\ndata: {"text":"${EVIL}"}\n\n`,
    }),
  )
  await page.goto(`/hub/p/demir/missions?mission=${mission.id}`)
  await page.locator('[data-live]').getByText(`Returns cost ${EVIL}`).waitFor()
  await page.getByRole('button', { name: 'Cancel mission' }).click()
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  expectClean(opened)
})

test('what came of a mission is shown as picture, table and document, and nothing in it is HTML', async () => {
  const id = await addDone()
  const opened = await openMissions(`?mission=${id}`)
  const { page } = opened
  await page.getByRole('heading', { name: 'Haftalık rapor' }).waitFor()
  await page.getByRole('cell', { name: EVIL }).waitFor()
  await page.getByText('<script>alert(3)</script>').waitFor()
  expect(await page.getByRole('link', { name: 'site' }).getAttribute('href')).toBe(
    'https://demir.example',
  )
  expect(await page.getByRole('link', { name: 'bir aday' }).count()).toBe(0)
  expect(await page.locator('img[src="x"], article script').count()).toBe(0)
  expectClean(opened)
})

test('what needs a yes is shown word for word, approved and rejected', async () => {
  const { propose } = await import('../../../hub/missions/approvals.ts')
  const { everywhere } = await import('../../../hub/db/db.ts')
  const id = await addDone()
  const [project] = await hub.query<{ id: string }>(
    `select id from hub.projects where slug = 'demir'`,
  )
  const of = { project_id: project?.id ?? '', mission_id: id }
  const ids = await everywhere(hub.deps.db, async (sql) => [
    await propose(sql, of, {
      kind: 'process',
      title: verbatim('Answer replies on the same day'),
      action: { do: 'note_process', text: 'Answer replies on the same day.' },
    }),
    await propose(sql, of, {
      kind: 'process',
      title: verbatim('Write on Mondays only'),
      action: { do: 'note_process', text: 'Write on Mondays only.' },
    }),
  ])
  const opened = await openMissions(`?approval=${ids[0]}`)
  const { page } = opened
  const first = page.getByRole('article').filter({ hasText: 'Answer replies' })
  await first.getByText('What you approve, in full').click()
  await first.getByText('Answer replies on the same day.').waitFor()
  await first.getByRole('button', { name: 'Approve' }).click()
  await expect
    .poll(
      async () =>
        (
          await hub.query<{ status: string }>('select status from hub.approvals where id = $1', [
            ids[0],
          ])
        ).map(({ status }) => status),
      SLOW,
    )
    .not.toEqual(['waiting'])
  const second = page.getByRole('article').filter({ hasText: 'Write on Mondays' })
  await second.getByRole('button', { name: 'Reject' }).click()
  await second.waitFor({ state: 'detached' })
  expectClean(opened)
})

test.each([
  { theme: 'light', language: 'en', isPhone: false },
  { theme: 'dark', language: 'tr', isPhone: true },
] as const)('the page is accessible: %o', async (look) => {
  const id = await addDone()
  const opened = await openMissions(`?mission=${id}`, look)
  await expectAccessible(opened.page)
  await expectNoSideways(opened.page)
  await walkTo(opened.page, '/hub/p/demir/missions?do=compose')
  await opened.page.getByRole('dialog').waitFor()
  await expectAccessible(opened.page)
})

/** What the fixtures below put on the page: data, word for word. */
const ENDS = {
  failed: 'Hub’a ikinci bir telefon alanı ekle',
  cancelled: 'Bayiler için bir kılavuz yaz',
  approval: 'https://demir.example sitesini oku, profil çıkar',
  model: 'İade için tek sayfalık belge yaz',
}
const DATA = [
  ...Object.values(ENDS),
  ...['Demir Lojistik', 'English', 'Watchpost Hub', EVIL],
  ...['Kaç aday geldi, nereden?', 'On iki aday geldi,', 'çoğu', 'fuardan.', 'Haftalık rapor'],
  ...['ve', 'bir aday', 'için, bkz.', 'site', 'Hafta', 'Aday', 'birinci', 'ikinci, içinde'],
  ...['Kaynak', 'fuar', 'web sitesi', '<script>alert(3)</script>', 'https://demir.example'],
].map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
/** How long something took comes from the browser's own words. */
const SPAN = '[\\d,]+ ?(?:sn|dk|sa)'

test('no word of the page is left untranslated, whatever became of a mission', async () => {
  const done = await addDone()
  const ids = new Map<string, string>([['done', done]])
  const make = async (end: keyof typeof ENDS, department: string) =>
    ids.set(end, await compose(hub, department, ENDS[end], undefined, 'demir'))
  const waitsFor = (end: keyof typeof ENDS) =>
    until(async () => (await tell(hub, ids.get(end) ?? '')).waits_for === end)
  stub.hold(true)
  await make('cancelled', 'docs')
  await hub.call('POST', 'mission/cancel', { id: ids.get('cancelled') })
  await make('failed', 'engineer_system')
  await reach(hub, ids.get('failed') ?? '')
  await make('approval', 'web_research')
  await waitsFor('approval')
  const away = { kind: 'endpoint', url: 'http://127.0.0.1:9/v1', model: 'stub' } as const
  await hub.deps.model.configure(away)
  await make('model', 'docs')
  await waitsFor('model')
  stub.hold(false)

  const opened = await openMissions('', { language: 'tr' })
  const { page } = opened
  const vocabulary = await readVocabulary('tr')
  const data = new RegExp(`^(?:${[...DATA, SPAN].join('|')})$`)
  const reasons: Record<string, RegExp> = {
    failed: /^Bu ajan kapalı\./,
    cancelled: /^Siz iptal ettiniz\.$/,
    approval: /^Onayınızı bekliyor: Şunu oku: demir\.example\.$/,
    model: /yanıt vermiyor|ulaşılamıyor/,
  }
  for (const [end, id] of ids) {
    await page.locator(`[data-mission="${id}"]`).click()
    await page
      .getByRole('article')
      .getByText(reasons[end] ?? 'Haftalık rapor')
      .first()
      .waitFor()
    await settled(page)
    expect(strangers(await wordsOn(page), vocabulary, data), end).toEqual([])
  }
  await page.getByRole('button', { name: 'Yeni görev' }).first().click()
  for (const { role } of Object.values(AGENTS)) vocabulary.sentences.add(role.tr)
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Yapılacak iş').fill(ENDS.model)
  await dialog.getByText('Üstlenecek ajan: Belgeler').waitFor()
  expect(strangers(await wordsOn(page), vocabulary, data)).toEqual([])
  expectClean(opened)
}, 60_000)

test('plain Turkish words go to a real model: its words come live, then its steps and a document', async () => {
  await useTinyModel(hub)
  const opened = await openMissions('', { language: 'tr' })
  const { page } = opened
  await page.evaluate(() => {
    const look = () => {
      const live = document.querySelector('[data-live]')?.textContent
      if (live) document.body.dataset.seen = live
    }
    const options = { subtree: true, childList: true, characterData: true }
    new MutationObserver(look).observe(document.body, options)
  })
  await page.getByRole('button', { name: 'Yeni görev' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Yeni görev' })
  await dialog.getByLabel('Yapılacak iş').fill('İade için kullanım kılavuzu yaz')
  await dialog.getByText('Üstlenecek ajan: Belgeler').waitFor()
  await dialog.getByText('gerekçe: “kullanım”, “kılavuzu”').waitFor()
  await dialog.getByRole('button', { name: 'Başlat' }).click()
  const mission = page.getByRole('article', { name: /İade için kullanım kılavuzu yaz/ })
  await mission.getByText('Ana hatlar').waitFor()
  await mission.getByText('Bölüm 1').waitFor()
  await mission.getByText('Bitti').waitFor()
  await mission.getByText('Belge', { exact: true }).waitFor()
  await mission.getByText('Belgeler ajanı yazdı. Kullanmadan önce okuyun.').waitFor()
  expect(await page.locator('body').getAttribute('data-seen')).toMatch(/[{"a-z]/)
  expectClean(opened)
}, 60_000)

test('a result is edited in place, and asked further; the conversation is shown', async () => {
  const id = await addDone()
  const opened = await openMissions(`?mission=${id}`)
  const { page } = opened
  const article = page.getByRole('article')
  await article.getByRole('button', { name: 'Edit' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Text of the result' })
  await dialog.getByRole('textbox').fill('A better summary')
  const edited = page.waitForRequest('**/api/cockpit/mission/edit')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await article.getByText('A better summary').waitFor()
  await article.getByRole('button', { name: 'Edit' }).first().click()
  await dialog.getByText('by the agent').waitFor()
  await dialog.getByText('by you').waitFor()
  // What somebody else saved meanwhile is not overwritten, nor is what was typed lost.
  await dialog.getByRole('textbox').fill('Over an old version')
  const theirs = { ...(await edited).postDataJSON(), version: 2, text: 'By somebody else' }
  expect((await hub.call('POST', 'mission/edit', theirs)).status).toBe(200)
  await page.evaluate(() => void window.__TANSTACK_QUERY_CLIENT__?.invalidateQueries())
  await dialog.getByText('Version 3').waitFor()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('alert').waitFor()
  expect(await dialog.getByRole('textbox').inputValue()).toBe('Over an old version')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Discard' }).click()
  stub.script(() => ({ nonsense: true }))
  const ask = article.getByRole('textbox', { name: 'Ask further' })
  await article.getByRole('button', { name: 'In English' }).click()
  expect(await ask.inputValue()).toBe('In English')
  await ask.fill('shorter')
  await article.getByRole('button', { name: 'Go on' }).click()
  const turns = page.getByRole('navigation', { name: 'Conversation' }).getByRole('link')
  await turns.nth(1).waitFor()
  expect(await turns.nth(1).textContent()).toContain('shorter')
  await expectAccessible(page)
  await turns.nth(0).click()
  await article.getByText('By somebody else').waitFor()
  expect(await hub.query('select from hub.missions where continues = $1', [id])).toHaveLength(1)
  expectClean(opened)
})
