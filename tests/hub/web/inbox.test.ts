import { mkdirSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ALWAYS } from '../mail/sequences/sequence-help.ts'
import {
  apiOf,
  LEAD,
  type MailServer,
  setBrand,
  smtpSettings,
  startMailServer,
} from '../support/mail-help.ts'
import { standForAll } from '../support/stand.ts'
import {
  eventually,
  expectAccessible,
  expectClean,
  expectNoSideways,
  type ServedHub,
  serveHub,
  settled,
  sharedBrowser,
  visit,
} from './browser.ts'

let hub: ServedHub
let browser: Browser
let smtp: MailServer
let api: ReturnType<typeof apiOf>
const leads: { id: string; email: string }[] = []
beforeAll(async () => {
  smtp = await startMailServer()
  hub = await serveHub({ config: { public_url: 'https://hub.demir.example' } })
  browser = await sharedBrowser()
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir' })
  await setBrand(api)
  await api.put('settings/mail', { ...smtpSettings(smtp.port), test_email: 'me@demir.example' })
  for (const name of ['Ali', 'Berk', 'Can']) {
    const data = { name, email: `${name.toLowerCase()}@client.example`, ...LEAD }
    leads.push((await api.ok('lead/quick_add', { slug: 'demir', data })).lead)
  }
})
afterAll(async () => {
  await hub.close()
  await smtp.close()
})

/** Where a person looks at the pages: nothing is written in a test run. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES
  if (!folder) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: `${folder}/${name}.png` })
}

test('approvals are gone through by keys: alike ones compared, one sent, one rejected', async () => {
  const drafts: string[] = []
  for (const lead of leads) {
    const { draft } = await api.ok('draft/create', {
      project: 'demir',
      audience: { kind: 'lead', lead_id: lead.id },
      subject: 'A short question',
      text: 'Hello {first_name},\n\nwould you like to talk next week?',
    })
    const of = { id: draft.id, project: 'demir' }
    await api.ok('draft/render', of)
    await standForAll(api, of)
    drafts.push(draft.id)
  }
  const opened = await visit(browser, hub, '/hub/p/demir/queue')
  const { page } = opened
  await page.getByText('1 of 3').first().waitFor()
  await page.getByText('Send to Ali, 1 today').waitFor()
  await picture(page, 'queue')
  const link = 'Unsubscribe <a link of each recipient’s own>'
  await page.getByText(link).waitFor()
  await page.getByRole('button', { name: 'Compare 3 alike' }).click()
  await page.getByRole('button', { name: 'Approve and send 3' }).waitFor()
  await eventually(() => page.locator('mark').allInnerTexts()).toEqual(
    expect.arrayContaining([expect.stringContaining('Hello Berk')]),
  )
  expect(await page.getByText(link).count()).toBe(3)
  await picture(page, 'batch')
  await page.getByRole('button', { name: 'One at a time' }).click()
  await page.getByText('Send to Ali, 1 today').waitFor()
  await page.keyboard.press('s')
  await page.getByText('Approved, and on its way').waitFor()
  await page.getByText('1 of 2').first().waitFor()
  await page.getByText('Send to Berk, 1 today').waitFor()
  await page.keyboard.press('r')
  await page.getByRole('dialog').getByLabel('Reason').fill('Not now')
  await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()
  await page.getByText('1 of 1').first().waitFor()
  await page.getByRole('button', { name: 'Send a test to myself' }).click()
  await page.getByText('Test sent to me@demir.example').waitFor()
  await hub.deps.mailer.run()
  expect(smtp.to().sort()).toEqual(['ali@client.example', 'me@demir.example'])
  const states = await hub.query<{ state: string }>(
    'select state from hub.drafts where id = any($1) order by array_position($1, id)',
    [drafts],
  )
  expect(states.map(({ state }) => state)).toEqual(['sent', 'rejected', 'rendered'])
  expectClean(opened)
})

test('what was decided elsewhere gives its place to no other mail, which a key would send unread', async () => {
  await hub.query('delete from hub.drafts')
  for (const lead of leads.slice(0, 2)) {
    const { draft } = await api.ok('draft/create', {
      project: 'demir',
      audience: { kind: 'lead', lead_id: lead.id },
      subject: `For ${lead.email}`,
      text: 'Hello {first_name},\n\nwould you like to talk next week?',
    })
    const of = { id: draft.id, project: 'demir' }
    await api.ok('draft/render', of)
    await standForAll(api, of)
  }
  const opened = await visit(browser, hub, '/hub/p/demir/queue')
  const { page } = opened
  const [rejected, other] = leads.map(({ email }) =>
    page.getByRole('heading', { name: `For ${email}` }),
  )
  await rejected?.waitFor()
  const [first] = await hub.query<{ id: string }>('select id from hub.drafts where subject = $1', [
    `For ${leads[0]?.email}`,
  ])
  await api.ok('draft/reject', { id: first?.id, project: 'demir', reason: null })
  await page.evaluate(() => void window.__TANSTACK_QUERY_CLIENT__?.invalidateQueries())
  await page.getByText('This no longer waits for you').waitFor()
  await page.keyboard.press('s')
  await settled(page)
  const states = await hub.query<{ state: string }>(
    'select state from hub.drafts order by created_at',
  )
  expect(states.map(({ state }) => state)).toEqual(['rejected', 'rendered'])
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Show the next one' }).click()
  await other?.waitFor()
  expectClean(opened)
})

test('sequences are gone through by keys too: one approved, one deleted', async () => {
  await hub.query('delete from hub.drafts')
  const make = async (name: string) => {
    const { sequence } = await api.ok('sequence/create', {
      project: 'demir',
      name,
      filter: {},
      window: ALWAYS,
      steps: [
        {
          wait_days: 0,
          subject: 'A short question',
          text: 'Hello {first_name},\n\nwe cut freight costs by a third. May we talk?',
        },
        { wait_days: 3, text: 'Did you see my question?' },
      ],
    })
    return sequence.id as string
  }
  const ids = [await make('Autumn round'), await make('Winter round')]
  const opened = await visit(browser, hub, '/hub/p/demir/queue')
  const { page } = opened
  await page.getByText('1 of 2').first().waitFor()
  const heading = page.getByRole('heading', { name: 'Autumn round' })
  await heading.waitFor()
  await page.getByText('Hello Ali').first().waitFor()
  // A sentence without evidence keeps it from being approved, by the key as by the button.
  const approve = page.getByRole('button', { name: 'Approve and start for 3 recipients' })
  expect(await approve.isDisabled()).toBe(true)
  await page.keyboard.press('a')
  const stand = page.getByRole('button', { name: 'I stand for this' })
  await stand.first().click()
  await eventually(() => stand.count()).toBe(1)
  expect(await approve.isDisabled()).toBe(true)
  await stand.click()
  await eventually(() => approve.isEnabled()).toBe(true)
  expect(await stateOf(ids)).toEqual(['draft', 'draft'])
  // Buttons that are at work are pale.
  await settled(page)
  await expectAccessible(page)
  await picture(page, 'queue-sequence')
  await page.keyboard.press('a')
  await page.getByText('1 of 1').first().waitFor()
  expect(await stateOf(ids)).toEqual(['running', 'draft'])

  await page.getByRole('heading', { name: 'Winter round' }).waitFor()
  const missing: string[] = []
  page.on('response', (response) => {
    if (response.status() === 404) missing.push(response.url())
  })
  await page.keyboard.press('r')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Nothing waits for you').waitFor()
  await settled(page)
  expect(await stateOf(ids)).toEqual(['running'])
  // What is deleted is not asked for again.
  expect(missing).toEqual([])
  expectClean(opened)
  await hub.query('delete from hub.sequences')
  await hub.query('delete from hub.drafts')
})

/** The states of the sequences that there are, in the order of the ids. */
const stateOf = async (ids: string[]) =>
  (
    await hub.query<{ state: string }>(
      'select state from hub.sequences where id = any($1) order by array_position($1, id)',
      [ids],
    )
  ).map(({ state }) => state)

test('the inbox shows a conversation without its HTML, answers in it, and goes on to the next', async () => {
  await hub.query(
    `with draft as (
       insert into hub.drafts (project_id, audience, subject, text, state)
       select project_id, jsonb_build_object('kind', 'lead', 'lead_id', id), 'A short question',
         'Would you like to talk?', 'sent'
       from hub.leads where name = 'Can' returning id, project_id, audience
     )
     insert into hub.recipients (draft_id, project_id, lead_id, email, state, claimed_at, sent_at)
     select id, project_id, (audience ->> 'lead_id')::uuid, 'can@client.example', 'sent', now(), now()
     from draft`,
  )
  await hub.query(
    `insert into hub.inbox_mails (project_id, lead_id, draft_id, our_email, kind, matched_by,
       from_email, from_name, subject, text, whole, message_id, attachments, received_at)
     select r.project_id, r.lead_id, r.draft_id, r.email, 'reply', 'message_id', r.email, 'Can',
       'Re: A short question', word, word || E'\\n\\n> would you like', '<in' || at || '@x>',
       '[{"name": "list.pdf", "type": "application/pdf", "bytes": 2048}]', now() - make_interval(mins => at::int)
     from hub.recipients as r,
       unnest(array['<img src=x onerror=alert(1)> Yes.', 'And a second one.']) with ordinality as w (word, at)
     where r.email = 'can@client.example'`,
  )
  await hub.query(
    `insert into hub.inbox_mails (project_id, draft_id, our_email, kind, matched_by, from_email, subject, text, opt_out, opt_out_by)
     select project_id, draft_id, email, 'unrelated', 'address', email, 'Hi', 'Unsubscribe?', 'open', 'rules'
     from hub.recipients where email = 'can@client.example'`,
  )
  const opened = await visit(browser, hub, '/hub/p/demir/inbox')
  const { page } = opened
  await page.keyboard.press('j')
  await page.getByText('<img src=x onerror=alert(1)> Yes.', { exact: true }).last().waitFor()
  await page.getByText('list.pdf · application/pdf · 2 KB').first().waitFor()
  const mail = page.getByRole('listitem').filter({ hasText: 'onerror' }).last()
  await mail.getByText('Show the quoted text').click()
  await mail.getByText('> would you like').waitFor()
  await picture(page, 'inbox')
  await expectAccessible(page)
  await page.getByRole('textbox', { name: 'Your answer' }).fill('Gladly, on Tuesday.')
  await page.getByRole('button', { name: 'Send answer' }).click()
  await page.getByText('Answer sent').waitFor()
  expect(smtp.mails.at(-1)).toMatchObject({ subject: 'Re: A short question', inReplyTo: '<in1@x>' })
  await page.getByText('And a second one.').first().click()
  await page.getByRole('heading', { name: 'Re: A short question' }).click()
  await page.keyboard.press('e')
  await page.getByText('Nothing here').waitFor()
  const handled = await hub.query('select 1 from hub.inbox_mails where handled_at is not null')
  expect(handled).toHaveLength(2)
  expectClean(opened)

  const phone = await visit(browser, hub, '/hub/p/demir/inbox?show=unrelated', {
    isPhone: true,
    theme: 'dark',
    language: 'tr',
  })
  await picture(phone.page, 'inbox-phone-list')
  await phone.page.getByText('Unsubscribe?').click()
  await settled(phone.page)
  await phone.page.getByRole('textbox', { name: 'Yanıtınız' }).waitFor()
  await expectNoSideways(phone.page)
  await picture(phone.page, 'inbox-phone')
  expectClean(phone)
})

test('an answer that is still being sent goes out once, though somebody looks at another mail meanwhile', async () => {
  await hub.query(
    `insert into hub.inbox_mails (project_id, lead_id, draft_id, our_email, kind, matched_by,
       from_email, from_name, subject, text, whole, message_id, received_at)
     select r.project_id, r.lead_id, r.draft_id, r.email, 'reply', 'message_id', r.email, 'Can',
       'Re: ' || word, word, word, '<late' || at || '@x>', now() - make_interval(mins => at::int)
     from hub.recipients as r, unnest(array['Slow', 'Other']) with ordinality as w (word, at)
     where r.email = 'can@client.example'`,
  )
  await hub.query(`update hub.inbox_mails set opt_out = null, opt_out_by = null`)
  const opened = await visit(browser, hub, '/hub/p/demir/inbox')
  const { page, context } = opened
  let answer = () => {}
  const held = new Promise<void>((resolve) => {
    answer = resolve
  })
  let asked = 0
  await context.route('**/api/cockpit/inbox/answer', async (route) => {
    asked += 1
    if (asked === 1) await held
    await route.continue()
  })
  const before = smtp.mails.length
  const field = page.getByRole('textbox', { name: 'Your answer' })
  const send = page.getByRole('button', { name: 'Send answer' })
  const list = page.getByRole('list', { name: 'Mail that came in' })
  await list.getByText('Re: Slow').click()
  await field.fill('Once is enough.')
  await send.click()
  await eventually(() => asked).toBe(1)
  await list.getByText('Re: Other').click()
  await page.getByRole('heading', { name: 'Re: Other' }).waitFor()
  expect(await field.inputValue()).toBe('')
  await list.getByText('Re: Slow').click()
  await page.getByRole('heading', { name: 'Re: Slow' }).waitFor()
  expect(await field.inputValue()).toBe('Once is enough.')
  await send.click()
  await page.getByText('Answer sent').first().waitFor()
  answer()
  await eventually(() => field.inputValue()).toBe('')
  await settled(page)
  expect(smtp.mails.length - before).toBe(1)
  expectClean(opened)
})
