import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { common } from '../../../hub/web/common.text.ts'
import { inboxText } from '../../../hub/web/pages/inbox/inbox.text.ts'
import { dealText } from '../../../hub/web/pages/leads/deal.text.ts'
import { importText } from '../../../hub/web/pages/leads/import/import.text.ts'
import { leadsText } from '../../../hub/web/pages/leads/leads.text.ts'
import { numbersText } from '../../../hub/web/pages/numbers/numbers.text.ts'
import { sequencesText } from '../../../hub/web/pages/sequences/sequences.text.ts'
import { peopleText } from '../../../hub/web/pages/settings/people/people.text.ts'
import { type ImapStandIn, startImap } from '../mail/imap-stand-in.ts'
import { passDays } from '../mail/sequences/sequence-help.ts'
import { licenseHub } from '../support/licensed.ts'
import {
  apiOf,
  type MailServer,
  setBrand,
  smtpSettings,
  startMailServer,
} from '../support/mail-help.ts'
import {
  eventually,
  expectClean,
  type ServedHub,
  serveHub,
  settled,
  sharedBrowser,
  visit,
  walkTo,
} from './browser.ts'

// The dictionaries stand beside code that reads the browser's own language.
vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => null })
  vi.stubGlobal('document', { documentElement: {} })
})
vi.unstubAllGlobals()

let hub: ServedHub
let smtp: MailServer
let imap: ImapStandIn
let api: ReturnType<typeof apiOf>
let browser: Browser
beforeAll(async () => {
  browser = await sharedBrowser()
  smtp = await startMailServer()
  imap = await startImap()
  hub = await serveHub({ start: true, config: { public_url: 'https://hub.demir.example' } })
  await licenseHub(hub)
  api = apiOf(hub)
  await api.put('settings/mail', {
    ...smtpSettings(smtp.port),
    imap: { host: '127.0.0.1', port: imap.port, security: 'none', user: 'ayse', password: 'right' },
  })
  await hub.deps.poller.run(true)
})
afterAll(async () => {
  await hub.close()
  await imap.close()
  await smtp.close()
})

/** What is written in each language, and the words in which somebody wants no more mail. */
const WRITTEN = {
  en: {
    file: ['Name,Email,Company,Country', 'fair.csv'],
    name: 'After the fair',
    subject: 'A question for {company}',
    texts: ['would you like to talk?', 'shall I call you?', 'is there anybody else?'],
    interest: 'They asked for offers at the fair',
    reply: 'Yes, on Tuesday.',
    opt_out: 'unsubscribe',
  },
  tr: {
    file: ['Ad Soyad;E-posta;Firma;Ülke', 'fuar.csv'],
    name: 'Fuardan sonra',
    subject: '{company} için bir soru',
    texts: ['görüşmek ister misiniz?', 'sizi arayayım mı?', 'başka biri var mı?'],
    interest: 'Fuarda teklif istediler',
    reply: 'Olur, salı günü.',
    opt_out: 'Beni listeden çıkarın',
  },
} as const
const PEOPLE = ['Ali', 'Berk', 'Can', 'Derya', 'Ece', 'Fatma'] as const
const SAMPLE = join(import.meta.dirname, '../mail/reports/postfix.eml')

test.each(['en', 'tr'] as const)('a sequence from its file to its end, in %s', async (language) => {
  const written = WRITTEN[language]
  const words = {
    imports: importText[language],
    leads: leadsText[language],
    deals: dealText[language],
    sequences: sequencesText[language],
    people: peopleText[language],
    inbox: inboxText[language],
    numbers: numbersText[language],
    ...common[language],
  }
  const slug = `fair-${language}`
  await api.ok('projects/create', { slug, name: 'Demir Lojistik' })
  await setBrand(api, {}, slug)
  const emailOf = (name: string) => `${name.toLowerCase()}@${language}.example`
  const mailsTo = (name: string) => smtp.to().filter((to) => to === emailOf(name)).length
  const sent = () => PEOPLE.map(mailsTo)
  const idOf = (name: string) =>
    smtp.mails.findLast((_, at) => smtp.to()[at] === emailOf(name))?.messageId ?? ''
  const answer = (name: string, text: string) =>
    imap.deliver(
      `From: ${name} <${emailOf(name)}>\nDate: ${new Date().toUTCString()}\nSubject: Re: A question\nMessage-ID: <${name}@${language}.example>\nIn-Reply-To: ${idOf(name)}\nContent-Type: text/plain; charset=utf-8\n\n${text}\n`,
    )
  /** Two rounds: what was sent in the first gives the next step its time. */
  const run = async () => {
    await hub.deps.mailer.run()
    await hub.deps.mailer.run()
  }

  const opened = await visit(browser, hub, `/hub/p/${slug}/leads`, { language })
  const { page } = opened
  await page.getByRole('button', { name: words.leads.import, exact: true }).click()
  const [head, file] = written.file
  const separator = head.includes(';') ? ';' : ','
  const country = language === 'en' ? 'Türkiye' : 'Malta'
  const rows = PEOPLE.map((name) =>
    [`${name} Öz`, emailOf(name), `${name} A.Ş.`, country].join(separator),
  )
  await page.locator('input[type=file]').setInputFiles({
    name: file,
    mimeType: 'text/csv',
    buffer: Buffer.from([head, ...rows].join('\n')),
  })
  const importing = page.getByRole('dialog', { name: words.imports.title })
  await importing.getByLabel(words.leads.fields.lawful_basis).selectOption('legitimate_interest')
  await importing.getByLabel(words.deals.bulk.note).fill(written.interest)
  await importing.getByLabel(words.imports.tags).fill('fair')
  await importing.getByRole('button', { name: words.imports.submit, exact: true }).click()
  await importing.getByText(words.imports.created(PEOPLE.length)).waitFor()
  await importing.getByRole('button', { name: words.imports.show }).click()

  await walkTo(page, `/hub/p/${slug}/sequences`)
  const { form } = words.sequences
  await page.getByRole('button', { name: words.sequences.add }).first().click()
  const dialog = page.getByRole('dialog', { name: form.create })
  await dialog.getByLabel(form.name, { exact: true }).fill(written.name)
  for (const [at, text] of written.texts.entries()) {
    if (at > 0) await dialog.getByRole('button', { name: form.add_step }).click()
    const step = dialog.getByRole('group', { name: words.sequences.step(at + 1) })
    await step.getByLabel(form.text, { exact: true }).fill(`{first_name},\n\n${text}`)
    if (at === 0) await step.getByLabel(form.subject, { exact: true }).fill(written.subject)
    else await step.getByLabel(form.wait).fill(at === 1 ? '3' : '4')
  }
  await dialog.getByLabel(words.leads.tag, { exact: true }).selectOption('fair')
  // They read the other language than the page; who writes it can choose another.
  const written_in = dialog.getByLabel(form.language)
  const other = language === 'en' ? 'tr' : 'en'
  await eventually(async () => expect(await written_in.inputValue()).toBe(other))
  await written_in.selectOption(language)
  for (const day of ['sat', 'sun'] as const) {
    await dialog.getByLabel(form.weekdays[day]).check()
  }
  await dialog.getByLabel(form.from, { exact: true }).fill('00:00')
  await dialog.getByLabel(form.to, { exact: true }).fill('24:00')
  await dialog.getByRole('button', { name: words.save }).click()
  const article = page.getByRole('article', { name: written.name })
  await article.waitFor()
  const stand = article.getByRole('button', { name: words.sequences.stand })
  await settled(page)
  while ((await stand.count()) > 0) {
    await stand.first().click()
    await settled(page)
  }
  await article.getByRole('button', { name: words.sequences.approve(PEOPLE.length) }).click()
  await page.getByText(words.sequences.approved).waitFor()
  await run()
  expect(sent()).toEqual([1, 1, 1, 1, 1, 1])

  // Berk's address is dead; three days later the others get the second step.
  imap.deliver(
    readFileSync(SAMPLE, 'utf8')
      .replaceAll('dead@client.example', emailOf('Berk'))
      .replaceAll('@OURS@', idOf('Berk')),
  )
  await hub.deps.poller.run(true)
  await passDays(hub, 3)
  await run()
  expect(sent()).toEqual([2, 1, 2, 2, 2, 2])

  answer('Ali', written.reply)
  answer('Can', written.opt_out)
  await hub.deps.poller.run(true)
  await walkTo(page, '/hub/settings/people')
  await page.getByLabel(words.people.email).fill(emailOf('Derya'))
  await page.getByRole('button', { name: words.people.find, exact: true }).click()
  await page.getByRole('button', { name: words.people.erase }).click()
  const erasing = page.getByRole('dialog', { name: words.people.erase })
  await erasing.getByLabel(words.people.type).fill(emailOf('Derya'))
  await erasing.getByRole('button', { name: words.people.erase }).click()
  await eventually(() => erasing.count()).toBe(0)
  for (const days of [4, 30]) {
    await passDays(hub, days)
    await run()
    expect(sent()).toEqual([2, 1, 2, 2, 3, 3])
  }

  await walkTo(page, `/hub/p/${slug}/sequences`)
  await page.getByRole('link', { name: written.name }).click()
  await settled(page)
  await picture(page, `story-sequence-${language}`)
  await page.getByText(words.sequences.erased).waitFor()
  const { active, done, stopped, why, step, mails } = words.sequences
  const counts = (pairs: [string, number][]) => pairs.flat().map(String)
  expect(await said(page.getByRole('region', { name: words.sequences.numbers }))).toEqual([
    words.sequences.numbers,
    ...counts([
      [active, 0],
      [done, 2],
      [stopped, 4],
      [`– ${why.replied}`, 1],
      [`– ${why.bounced}`, 1],
      [`– ${why.opted_out}`, 1],
      [`– ${why.others}`, 1],
    ]),
    step(1),
    ...counts([
      [mails.sent, 6],
      [mails.bounced, 1],
    ]),
    step(2),
    ...counts([
      [mails.sent, 5],
      [mails.replied, 2],
    ]),
    step(3),
    ...counts([[mails.sent, 2]]),
  ])
  await walkTo(page, `/hub/p/${slug}/numbers`)
  await picture(page, `story-numbers-${language}`)
  const { title } = words.numbers.sequences
  expect(await said(page.getByRole('table', { name: title }).locator('tbody'))).toEqual([
    written.name,
    words.sequences.states.done,
    ...['6', '0', '2', '4'],
    ...(['replied', 'bounced', 'opted_out', 'others'] as const).map((one) => `${why[one]}: 1`),
    '2',
    ...[6, 5, 2].map((count, at) => `${step(at + 1)}: ${count}`),
  ])
  const { mail_rows, mail } = words.numbers
  expect(await said(page.locator(`dl[aria-label="${mail}"]`))).toEqual(
    counts([
      [mail_rows.sent, 13],
      [mail_rows.replied, 2],
      [mail_rows.bounced, 1],
      [mail_rows.unsubscribed, 1],
    ]),
  )
  const { shows, list } = words.inbox
  await walkTo(page, `/hub/p/${slug}/inbox?show=all`)
  const inbox = page.getByRole('list', { name: list }).getByRole('listitem')
  await eventually(() => inbox.count()).toBe(2)
  expect(await said(page.getByRole('group', { name: words.inbox.filter }))).toEqual([
    ...[shows.replies, '1', shows.opt_outs, shows.out_of_office],
    ...[shows.bounces, '1', shows.unrelated, shows.all, '2'],
  ])
  await inbox.filter({ hasText: written.reply }).waitFor()
  await inbox.filter({ hasText: words.inbox.bounce.hard }).waitFor()
  await picture(page, `story-inbox-${language}`)
  // Who asked for no more mail needs nobody any more.
  await walkTo(page, `/hub/p/${slug}/inbox?show=all&state=handled`)
  await inbox.filter({ hasText: written.opt_out }).waitFor()
  expectClean(opened)
})

/** Where a person looks at the pages: nothing is written in a test run. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` })
}

/** The lines that a part of the page says. */
async function said(part: Locator): Promise<string[]> {
  return (await part.allInnerTexts()).join('\n').split(/\s*[\n\t]\s*/)
}
