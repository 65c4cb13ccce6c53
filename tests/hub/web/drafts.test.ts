import type { Browser } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { bilingual, stored } from '../../../hub/i18n/words.ts'
import { outcomeText } from '../../../hub/mail/drafts/outcome.text.ts'
import { type ListmonkStandIn, startListmonk } from '../mail/listmonk/listmonk-stand-in.ts'
import { apiOf, LEAD, setBrand } from '../support/mail-help.ts'
import { standForAll } from '../support/stand.ts'
import { type StubModel, startStubModel, useStub } from '../support/stub-model.ts'
import {
  expectAccessible,
  expectClean,
  expectNoSideways,
  type ServedHub,
  serveHub,
  sharedBrowser,
  visit,
  walkTo,
} from './browser.ts'
import { readVocabulary, strangers, wordsOn } from './words.ts'

/** What is data, not the page's own words. */
const DATA =
  /^(Merhaba|Hello) \{first_name\}|^Fewer empty kilometres|^Your fleet grew|^You lose 18 %|^(With )?42 trucks|^Would |Ortak Adres|Ayşe Yılmaz|Mehmet Kaya|Zeynep Çelik|Demir Lojistik|\.example|onerror|^Fuardan sonra$|^fuarda tanıştığımıza|^Kısa bir görüşme|^Too long$|^English$|^Watchpost Hub$|^(SPF|DKIM|DMARC)$/
const EVIL = '<img src=x onerror=alert(1)>'
const FACT = 'Your fleet grew to 42 trucks this spring.'
const GUESS = 'You lose 18 % of your kilometres to empty returns.'

/** A busy machine takes its time. */
const SLOW = { timeout: 20_000 }

let hub: ServedHub
let api: ReturnType<typeof apiOf>
let browser: Browser
let listmonk: ListmonkStandIn
let stub: StubModel
beforeAll(async () => {
  browser = await sharedBrowser()
})
beforeEach(async () => {
  listmonk = await startListmonk()
  stub = await startStubModel()
  hub = await serveHub({ config: { public_url: 'https://hub.demir.example' }, start: true })
  await useStub(hub, stub)
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  const { url, user, token } = listmonk
  await setBrand(api)
  await api.put('settings/mail', {
    listmonk: { url, user, token },
    daily_cap: 200,
    ramp: null,
  })
})
afterEach(async () => {
  await hub?.close()
  await listmonk?.close()
  await stub?.close()
})

const add = async (data: object) =>
  (await api.ok('lead/quick_add', { slug: 'demir', data: { ...LEAD, ...data } })).lead

/** Makes a draft and takes these steps with it. */
async function make(draft: object, steps: readonly string[]): Promise<string> {
  const { id } = (await api.ok('draft/create', { project: 'demir', ...draft })).draft
  for (const step of steps) await api.ok(`draft/${step}`, { id, project: 'demir' })
  return id
}

/** A mail to one lead, whose company has something to say for itself. */
async function makeMail({ guess, steps = [] }: { guess?: string; steps?: string[] } = {}) {
  const lead = await add({ name: EVIL, email: 'jo@client.example', company: '<b>Client</b>' })
  await hub.query(
    `insert into hub.evidence (project_id, lead_id, fact, quote, source)
     select project_id, null, $2, 'With 42 trucks we now serve all of Marmara.',
       'https://client.example/news' from hub.leads where id = $1`,
    [lead.id, FACT],
  )
  const mail = {
    audience: { kind: 'lead', lead_id: lead.id },
    subject: 'Fewer empty kilometres',
    text: `Hello {first_name},\n\n${[FACT, guess].filter(Boolean).join(' ')}\n\nWould a short call next week suit you?`,
  }
  return make(mail, steps)
}

/** Three people from the fair, and an address that is nobody's own. */
async function addPeople() {
  for (const [at, name] of ['Ayşe Yılmaz', 'Mehmet Kaya', 'Zeynep Çelik'].entries()) {
    await add({ name, email: `p${at}@fuar.example`, company: `Firma ${at}`, tags: ['fuar'] })
  }
  await add({ name: 'Ortak Adres', email: 'info@fuar.example', tags: ['fuar'] })
}

/** A campaign to the people from the fair. */
async function makeCampaign(...steps: string[]): Promise<string> {
  await addPeople()
  const id = await make(
    {
      audience: { kind: 'list', filter: { tag: 'fuar' } },
      subject: 'Fuardan sonra',
      language: 'tr',
      text: 'Merhaba {first_name},\n\nfuarda tanıştığımıza sevindik.\n\nKısa bir görüşme ister misiniz?',
    },
    steps,
  )
  await hub.query(`update hub.drafts set agent = 'marketing' where id = $1`, [id])
  return id
}

const openDrafts = (path = '', look = {}) => visit(browser, hub, `/hub/p/demir/drafts${path}`, look)

const stateOf = async (id: string) =>
  (await hub.query<{ state: string }>('select state from hub.drafts where id = $1', [id]))[0]?.state

/** The state of a draft once the hub has sent what it may. */
async function sentBy(id: string) {
  await hub.deps.mailer.run()
  return stateOf(id)
}

test('a mail is rendered, its unsupported sentence stands in the way, an edit clears it', async () => {
  const mail = await makeMail({ guess: GUESS })
  const opened = await openDrafts()
  const { page } = opened
  await page.getByRole('link', { name: /Fewer empty kilometres/ }).click()
  await page.getByRole('button', { name: 'Render the mail' }).click()
  await expect.poll(() => stateOf(mail), SLOW).toBe('rendered')
  const frame = page.frameLocator('iframe')
  await frame.getByText('42 trucks', { exact: false }).last().waitFor()
  expect(await page.locator('iframe').getAttribute('sandbox')).toBe('')
  await page.getByText('1 check failed').last().waitFor()
  const approve = page.getByRole('button', { name: /^Approve: send to/ })
  expect(await approve.isDisabled()).toBe(true)

  await page.getByRole('button', { name: 'Text and evidence' }).click()
  await page.getByRole('button', { name: GUESS }).click()
  await page
    .getByRole('listitem')
    .filter({ hasText: GUESS })
    .getByText('No evidence says exactly this.')
    .waitFor()
  await page.getByRole('link', { name: 'client.example/news' }).waitFor()

  await page.getByRole('button', { name: 'Edit', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit the draft' })
  const paragraphs = dialog.locator('textarea').first()
  await paragraphs.fill((await paragraphs.inputValue()).replace(` ${GUESS}`, ''))
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  await dialog.waitFor({ state: 'hidden' })
  const subject = page.getByRole('listitem').filter({ hasText: 'Fewer empty kilometres' })
  await subject.getByRole('button', { name: 'I stand for this sentence' }).click()
  await subject.getByText('The admin stands for this sentence').waitFor()
  await page.getByText(/checks passed/).waitFor()
  await approve.click()
  await expect.poll(() => stateOf(mail), SLOW).toBe('approved')
  expect(await page.locator('img[src="x"]').count()).toBe(0)
  expectClean(opened)
})

test('an edit voids the approval, and shows what is no longer what was approved', async () => {
  const mail = await makeMail({ steps: ['render', 'approve'] })
  const opened = await openDrafts(`?draft=${mail}&do=edit`)
  const { page } = opened
  const dialog = page.getByRole('dialog', { name: 'Edit the draft' })
  await dialog.getByText('Editing voids the approval').waitFor()
  const paragraphs = dialog.locator('textarea').first()
  await paragraphs.fill((await paragraphs.inputValue()).replace('next week', 'on Friday'))
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect(await stateOf(mail)).toBe('rendered')
  await page.getByRole('button', { name: /^Approve: send to/ }).waitFor()
  await page.getByText('Compared with the last approved version').waitFor()
  await page.locator('ins').filter({ hasText: 'on Friday' }).waitFor()
  await page.locator('del').filter({ hasText: 'next week' }).waitFor()
  expectClean(opened)
})

test('a campaign goes from text to sent through listmonk, and says to how many', async () => {
  const campaign = await makeCampaign()
  await standForAll(api, { id: campaign, project: 'demir' })
  const opened = await openDrafts(`?draft=${campaign}`)
  const { page } = opened
  await page.getByRole('button', { name: 'Render the mail' }).click()
  await page.getByText('a role address such as info@').first().waitFor()
  await page.getByRole('button', { name: /^Approve: send to 3 people/ }).click()
  await page.getByRole('button', { name: 'Push to listmonk' }).click()
  await page.getByRole('button', { name: /^Send to 3 people now/ }).click()
  await expect.poll(() => sentBy(campaign), SLOW).toBe('sent')
  await page.getByText('It was sent. Nobody gets it twice.').waitFor()
  expect(new Set(listmonk.state.messages.map(({ to }) => to)).size).toBe(3)
  expectClean(opened)
})

test('mails with an unknown outcome are settled one by one, or all at once', async () => {
  const campaign = await makeCampaign('render', 'approve', 'push', 'send')
  await expect.poll(() => sentBy(campaign), SLOW).toBe('sent')
  await hub.query(
    `update hub.recipients set state = 'unclear', reason = $2
     where draft_id = $1 and state = 'sent'`,
    [campaign, stored(bilingual(outcomeText).hub_ended)],
  )
  await hub.query(`update hub.drafts set state = 'unclear', state_reason = $2 where id = $1`, [
    campaign,
    stored(bilingual(outcomeText).unclear(3)),
  ])
  const opened = await openDrafts(`?draft=${campaign}`, { language: 'tr' })
  const { page } = opened
  await page.getByText('Sunucu bu e-postayı').waitFor()
  await page.getByText('3 belirsiz').waitFor()
  expect(await page.getByText('Bu e-posta gönderilirken hub durdu.').count()).toBeGreaterThan(2)
  expect(strangers(await wordsOn(page), await readVocabulary('tr'), DATA)).toEqual([])
  const statesOf = async () =>
    (
      await hub.query<{ state: string }>(
        `select state from hub.recipients where draft_id = $1 and state <> 'skipped' order by email`,
        [campaign],
      )
    ).map(({ state }) => state)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Ulaştı: Ayşe Yılmaz' }).click()
  await expect.poll(statesOf, SLOW).toEqual(['sent', 'unclear', 'unclear'])
  expect(await stateOf(campaign)).toBe('unclear')
  await page.getByRole('button', { name: 'Hepsi ulaştı' }).click()
  await expect.poll(() => stateOf(campaign), SLOW).toBe('sent')
  expect(await statesOf()).toEqual(['sent', 'sent', 'sent'])
  expectClean(opened)
})

test('the designer gives a campaign another form, and the page shows it', async () => {
  const campaign = await makeCampaign('render')
  stub.script(({ schema }) => {
    const { template } = schema.properties as { template: { enum: string[] } } // safe: the designer's
    return {
      template: template.enum.includes('newsletter') ? 'newsletter' : 'letter',
      preheader: 'Fuardan sonra',
      headline: 'Fuardan sonra',
      highlight: [],
    }
  })
  const opened = await openDrafts(`?draft=${campaign}`)
  const { page } = opened
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Redesign' }).click()
  await page.getByText('The designer is creating another design.').waitFor()
  const look = () => hub.query('select state, template from hub.drafts where id = $1', [campaign])
  await expect.poll(look, SLOW).toEqual([{ state: 'rendered', template: 'newsletter' }])
  await page.getByRole('button', { name: /^Approve: send to/ }).waitFor()
  await page
    .frameLocator('iframe')
    .getByText('fuarda tanıştığımıza', { exact: false })
    .last()
    .waitFor()
  expectClean(opened)
})

test('other people are counted before they are taken, and void the approval', async () => {
  await addPeople()
  const mail = await makeMail({ steps: ['render', 'approve'] })
  const opened = await openDrafts(`?draft=${mail}`)
  const { page } = opened
  await page.getByRole('button', { name: 'Choose another lead' }).click()
  const dialog = page.getByRole('dialog', { name: 'Choose another lead' })
  const save = dialog.getByRole('button', { name: 'Save changes' })
  expect(await save.isDisabled()).toBe(true)
  await dialog.getByRole('textbox').fill('zeynep')
  await dialog.getByRole('radio', { name: /Zeynep Çelik/ }).check()
  await dialog.getByText('1 person will get it').waitFor()
  await save.click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Approve: send to Zeynep Çelik' }).waitFor()
  expect(await stateOf(mail)).toBe('rendered')
  expectClean(opened)
})

test('the recipients of a campaign are searched, counted, and replaced when that is saved', async () => {
  const campaign = await makeCampaign('render')
  const opened = await openDrafts(`?draft=${campaign}`)
  const { page } = opened
  await page.getByRole('button', { name: 'Choose other recipients' }).click()
  await page.getByText('3 of 4 people will get it').waitFor()
  await expectAccessible(page)
  await page.getByRole('textbox', { name: 'Search' }).fill('kaya')
  await page.getByText('1 person will get it').waitFor()
  expect((await api.get(`drafts/get?id=${campaign}&project=demir`)).body.recipients.total).toBe(4)
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByRole('button', { name: /^Approve: send to 1 person/ }).waitFor()
  expectClean(opened)
})

test('on a phone what comes next stands over the mail, in reach, and hides nothing', async () => {
  const campaign = await makeCampaign('render')
  await standForAll(api, { id: campaign, project: 'demir' })
  const opened = await openDrafts(`?draft=${campaign}`, { isPhone: true })
  const { page } = opened
  const approve = page.getByRole('button', { name: /^Approve: send to/ })
  const isInReach = () =>
    approve.evaluate((button) => {
      const { left, top, width, height } = button.getBoundingClientRect()
      const hit = document.elementFromPoint(left + width / 2, top + height / 2)
      return top + height <= innerHeight && button.contains(hit)
    })
  expect(await isInReach()).toBe(true)
  await expectAccessible(page)
  const last = page.locator('aside').last().locator('button, a').last()
  await last.scrollIntoViewIfNeeded()
  expect(await isInReach()).toBe(true)
  await page
    .locator('article')
    .first()
    .evaluate((article) => article.scrollTo(0, 1e6))
  const bar = await page.locator('[data-next]').boundingBox()
  const end = await last.boundingBox()
  expect((end?.y ?? 0) + (end?.height ?? 0)).toBeLessThanOrEqual(bar?.y ?? 0)
  await approve.click()
  await expect.poll(() => stateOf(campaign), SLOW).toBe('approved')
  await page.getByRole('button', { name: 'Push to listmonk' }).waitFor()
  expectClean(opened)
})

test('a mail is put aside with its reason', async () => {
  const mail = await makeMail({ steps: ['render'] })
  const opened = await openDrafts(`?draft=${mail}`)
  const { page } = opened
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Reject' }).click()
  const dialog = page.getByRole('dialog', { name: 'Reject this draft' })
  await dialog.getByLabel('Reason').fill('Too long')
  await dialog.getByRole('button', { name: 'Reject' }).click()
  await page.getByText('Too long').waitFor()
  await walkTo(page, '/hub/p/demir/drafts?state=rejected')
  expect(await page.locator('[data-draft]').count()).toBe(1)
  expectClean(opened)
})

test('what stands in the way is said in Turkish, every check of it', async () => {
  const campaign = await makeCampaign('render', 'approve')
  await api.ok('settings/mail/pause')
  const opened = await openDrafts(`?draft=${campaign}`, { language: 'tr' })
  const { page } = opened
  await page.getByRole('button', { name: 'Tüm denetimleri göster' }).click()
  await page.getByText('Gönderim duraklatıldı.').waitFor()
  expect(await page.getByText('Her alıcı için uygun.').count()).toBeGreaterThan(0)
  const vocabulary = await readVocabulary('tr')
  expect(strangers(await wordsOn(page), vocabulary, DATA)).toEqual([])
  const english = await readVocabulary('en')
  expect(strangers(await wordsOn(page), english, DATA)).toContain('Gönderim duraklatıldı.')
  expectClean(opened)
})

test.each([
  { theme: 'light', language: 'en', isPhone: false },
  { theme: 'dark', language: 'tr', isPhone: true },
] as const)('the page is accessible: %o', async (look) => {
  const mail = await makeMail({ guess: GUESS, steps: ['render'] })
  const opened = await openDrafts(`?draft=${mail}`, look)
  await expectAccessible(opened.page)
  await expectNoSideways(opened.page)
  if (look.language === 'tr') {
    const vocabulary = await readVocabulary('tr')
    expect(strangers(await wordsOn(opened.page), vocabulary, DATA)).toEqual([])
  }
  await walkTo(opened.page, `/hub/p/demir/drafts?draft=${mail}&view=text`)
  await opened.page.getByRole('button', { name: GUESS }).first().waitFor()
  await expectAccessible(opened.page)
})
