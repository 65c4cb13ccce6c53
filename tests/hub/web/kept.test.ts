import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  eventually,
  expectAccessible,
  expectClean,
  PASSWORD,
  type ServedHub,
  serveHub,
  settled,
  sharedBrowser,
  visit,
  walkTo,
} from './browser.ts'

let hub: ServedHub
let browser: Browser
beforeAll(async () => {
  browser = await sharedBrowser()
  hub = await serveHub()
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Veri Lojistik' })
})
afterAll(() => hub?.close())

test('what could not be loaded again stays on the page, with what somebody types, and is said to be old', async () => {
  const opened = await visit(browser, hub, '/hub/p/demir/project')
  const { page, context } = opened
  await page.getByLabel('Tone of voice').fill('Warm and short.')
  await context.route('**/api/cockpit/**', (route) => route.fulfill({ status: 500, json: {} }))
  await page.evaluate(() => void window.__TANSTACK_QUERY_CLIENT__?.invalidateQueries())
  await page.getByText('Part of this page could not be loaded again.').waitFor()
  expect(await page.getByLabel('Tone of voice').inputValue()).toBe('Warm and short.')
  await expectAccessible(page)
  await context.unroute('**/api/cockpit/**')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Part of this page').waitFor({ state: 'detached' })
  expect(await page.getByLabel('Tone of voice').inputValue()).toBe('Warm and short.')
  expectClean(opened)
})

test('who signs in again after the session ended finds what they typed', async () => {
  const opened = await visit(browser, hub, '/hub/p/demir/project')
  const { page, context } = opened
  await page.getByLabel('Tone of voice').fill('Dry, but kind.')
  await context.clearCookies()
  await page.getByRole('button', { name: 'Save changes' }).click()
  const again = page.getByRole('dialog', { name: 'Sign in' })
  await again.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await expectAccessible(page)
  // Not to be left without a sign-in, however often Esc is pressed.
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await again.getByRole('button', { name: 'Sign in' }).click()
  await again.waitFor({ state: 'hidden' })
  expect(await page.getByLabel('Tone of voice').inputValue()).toBe('Dry, but kind.')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('The project was saved').waitFor()
  expectClean(opened)
})

test('nothing of one person is left for the next who signs in, in no tab', async () => {
  const [email, password] = ['ece@demir.example', 'a long enough one']
  const opened = await visit(browser, hub, '/hub/p/demir/leads')
  const { page, context } = opened
  const post = (path: string, data: object) =>
    context.request.post(`/api/cockpit/${path}`, { data })
  const { link } = await (await post('settings/members', { email, role: 'seller' })).json()
  const cookies = await context.cookies()
  const secret = link.split('#')[1]
  expect((await post('invitation/accept', { secret, name: 'Ece', password })).ok()).toBe(true)
  await context.clearCookies()
  await context.addCookies(cookies)
  // It learns that there is a member now.
  await page.reload()
  await settled(page)
  const other = await context.newPage()
  await other.goto('/hub/p/demir/project')
  await other.getByLabel('Tone of voice').fill('Typed by the admin.')

  await context.clearCookies()
  await page.getByRole('link', { name: 'Numbers' }).click()
  const again = page.getByRole('dialog', { name: 'Sign in' })
  await again.getByRole('textbox', { name: 'E-mail' }).fill(email)
  await again.getByRole('textbox', { name: 'Password' }).fill(password)
  await again.getByRole('button', { name: 'Sign in' }).click()
  for (const tab of [page, other]) {
    await tab.waitForURL(/\/p\/demir\/today/)
    await settled(tab)
    const me = await tab.evaluate(() => window.__TANSTACK_QUERY_CLIENT__?.getQueryData(['me']))
    expect(me).toMatchObject({ name: 'Ece' })
  }
  await walkTo(other, '/hub/p/demir/project')
  expect(await other.getByLabel('Tone of voice').inputValue()).not.toBe('Typed by the admin.')

  await page.getByRole('button', { name: 'Language, theme and shortcuts' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  for (const tab of [page, other]) {
    await tab.waitForURL(/\/hub\/login/)
    await settled(tab)
    const projects = ['projects']
    const kept = await tab.evaluate(
      (key) => window.__TANSTACK_QUERY_CLIENT__?.getQueryData(key),
      projects,
    )
    expect(kept).toBeUndefined()
  }
  expectClean(opened)
})

test('a dialog asks before it drops what somebody typed, and only then', async () => {
  const opened = await visit(browser, hub, '/hub/p/demir/missions?do=compose')
  const { page } = opened
  const dialog = page.getByRole('dialog', { name: 'New mission' })
  const task = dialog.getByLabel('What needs to be done')
  const ask = page.getByRole('dialog', { name: 'Discard what you typed?' })
  await task.fill('Write to everybody in Bursa.')
  const ways = [
    () => page.keyboard.press('Escape'),
    () => page.mouse.click(5, 5),
    () => dialog.getByRole('button', { name: 'Close' }).click(),
  ]
  for (const leave of ways) {
    await leave()
    await ask.waitFor()
    await expectAccessible(page)
    await ask.getByRole('button', { name: 'Keep editing' }).click()
    await ask.waitFor({ state: 'detached' })
    expect(await task.inputValue()).toBe('Write to everybody in Bursa.')
  }
  await page.keyboard.press('Escape')
  await ask.getByRole('button', { name: 'Discard' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.keyboard.press('c')
  await task.waitFor()
  expect(await task.inputValue()).toBe('')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  expect(await ask.count()).toBe(0)
  expectClean(opened)
})

test('a note and a task stay with the lead they were typed for, while somebody looks at others', async () => {
  for (const name of ['Veri Bir', 'Veri İki']) {
    await hub.call('POST', 'lead/quick_add', { slug: 'demir', data: { name } })
  }
  const opened = await visit(browser, hub, '/hub/p/demir/leads')
  const { page } = opened
  const panel = page.getByRole('dialog', { name: /^Lead/ })
  const show = async (name: string) => {
    await page.getByRole('button', { name, exact: true }).click()
    await panel.getByRole('heading', { name }).waitFor()
    await settled(page)
  }
  const tab = (name: string) => panel.getByRole('tab', { name }).click()
  const note = panel.getByLabel('Write a note')
  const task = panel.getByRole('textbox', { name: 'Add task' })
  await show('Veri İki')
  await show('Veri Bir')
  await tab('Notes')
  await note.fill('Only about the first.')
  await tab('Tasks')
  await task.fill('Call the first.')
  await show('Veri İki')
  expect(await task.inputValue()).toBe('')
  await tab('Notes')
  expect(await note.inputValue()).toBe('')
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'hidden' })
  await show('Veri Bir')
  await tab('Notes')
  expect(await note.inputValue()).toBe('Only about the first.')
  await panel.getByRole('button', { name: 'Add note' }).click()
  await eventually(() => note.inputValue()).toBe('')
  await tab('Tasks')
  expect(await task.inputValue()).toBe('Call the first.')
  expectClean(opened)
})

test('what a field of a lead does not take stays in it, and the lead stays as it was', async () => {
  const data = { name: 'Veri Alan', score: 40 }
  const made = await hub.call('POST', 'lead/quick_add', { slug: 'demir', data })
  const { id } = (await made.json()).lead
  const opened = await visit(browser, hub, `/hub/p/demir/leads?lead=${id}`)
  const { page, context } = opened
  const panel = page.getByRole('dialog', { name: /^Lead/ })
  const score = panel.getByLabel('Score')
  const stored = async () => {
    const [lead] = await hub.query('select score, next_step from hub.leads where id = $1', [id])
    return lead
  }
  await score.fill('85%')
  await score.press('Enter')
  await page.getByText('Write the score as a whole number from 0 to 100.').waitFor()
  expect(await score.inputValue()).toBe('85%')
  expect(await score.getAttribute('aria-invalid')).toBe('true')
  await score.fill('85')
  await score.press('Enter')
  await eventually(stored).toEqual({ score: 85, next_step: null })

  const step = panel.getByLabel('Next step')
  const asked = '**/api/cockpit/lead/update'
  await context.route(asked, (route) => route.fulfill({ status: 500, json: {} }))
  await step.fill('Send the offer that we talked about')
  await step.press('Enter')
  await eventually(() => step.getAttribute('aria-invalid')).toBe('true')
  await settled(page)
  expect(await step.inputValue()).toBe('Send the offer that we talked about')
  await context.unroute(asked)
  await step.focus()
  await step.press('Enter')
  await eventually(stored).toEqual({ score: 85, next_step: 'Send the offer that we talked about' })
  await eventually(() => step.getAttribute('aria-invalid')).toBeNull()
  await step.fill('Not this')
  await step.press('Escape')
  expect(await step.inputValue()).toBe('Send the offer that we talked about')
  expectClean(opened)
})

test('a prompt that is being edited stays, though somebody else saves another', async () => {
  const opened = await visit(browser, hub, '/hub/settings/agents?agent=sales')
  const { page } = opened
  const field = page.getByRole('textbox', { name: 'Prompt' })
  const ours = await field.inputValue()
  await field.fill(`${ours}\nName the town.`)
  const theirs = { text: `${ours}\nName the street.` }
  expect((await hub.call('PUT', 'settings/prompts/sales', theirs)).status).toBe(200)
  await page.evaluate(() => window.__TANSTACK_QUERY_CLIENT__?.invalidateQueries())
  expect(await field.inputValue()).toBe(`${ours}\nName the town.`)
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Restore default' }).click()
  await eventually(() => field.inputValue()).toBe(ours)
  expectClean(opened)
})

test('the hours and texts of a sequence that are refused say so at their fields', async () => {
  const opened = await visit(browser, hub, '/hub/p/demir/sequences')
  const { page } = opened
  await page.getByRole('button', { name: 'New sequence' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New sequence' })
  await dialog.getByLabel('Name', { exact: true }).fill('Veri')
  await dialog.getByLabel('Subject').fill('A question')
  await dialog.getByLabel('Text', { exact: true }).fill('May we talk?')
  const from = dialog.getByLabel('From', { exact: true })
  await from.fill('nine')
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  await eventually(() => from.getAttribute('aria-invalid')).toBe('true')
  await from.fill('09:00')
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expectClean(opened)
})

test('the form of a project stays as it is typed when another project is opened in another tab', async () => {
  await hub.query(`insert into hub.projects (slug, name) values ('kaya', 'Veri Tekstil')`)
  const opened = await visit(browser, hub, '/hub/p/demir/project')
  const { page, context } = opened
  const name = page.getByLabel('Name', { exact: true }).first()
  expect(await name.inputValue()).toBe('Veri Lojistik')
  await page.getByLabel('Tone of voice').fill('Typed in the first tab.')
  const data = { slug: 'kaya' }
  expect((await context.request.post('/api/cockpit/projects/select', { data })).ok()).toBe(true)
  await page.evaluate(() => window.__TANSTACK_QUERY_CLIENT__?.invalidateQueries())
  await settled(page)
  expect(await name.inputValue()).toBe('Veri Lojistik')
  expect(await page.getByLabel('Tone of voice').inputValue()).toBe('Typed in the first tab.')
  expectClean(opened)
})

test('the wizard does not take what it could not read for undone', async () => {
  const opened = await visit(browser, hub, '/hub/p/demir/project')
  const { page, context } = opened
  const asked = '**/api/cockpit/projects/list'
  await context.route(asked, (route) => route.fulfill({ status: 500, json: {} }))
  await page.goto('/hub/welcome')
  await page.getByText('Could not be loaded').waitFor()
  expect(await page.getByRole('list', { name: 'Set up your hub' }).count()).toBe(0)
  await context.unroute(asked)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('link', { name: /First project/ }).waitFor()
  expectClean(opened)
})

test('a question to an agent stays with its mission, while somebody looks at others', async () => {
  const made = await hub.query<{ id: string; task: string }>(
    `insert into hub.missions (project_id, department, task, status, result, finished_at)
     select id, 'docs', task, 'done', '{"summary": "Veri"}', now()
     from hub.projects, unnest(array['Veri one', 'Veri two']) as task where slug = 'demir'
     returning id, task`,
  )
  const [one, two] = made.toSorted((a, b) => a.task.localeCompare(b.task)).map(({ id }) => id)
  const opened = await visit(browser, hub, `/hub/p/demir/missions?mission=${one}`)
  const { page } = opened
  const ask = page.getByRole('textbox', { name: 'Ask further' })
  await ask.fill('And for the port?')
  await walkTo(page, `/hub/p/demir/missions?mission=${two}`)
  await page.getByRole('heading', { name: 'Veri two' }).waitFor()
  expect(await ask.inputValue()).toBe('')
  await walkTo(page, `/hub/p/demir/missions?mission=${one}`)
  await page.getByRole('heading', { name: 'Veri one' }).waitFor()
  expect(await ask.inputValue()).toBe('And for the port?')
  expectClean(opened)
})

test('a column of the board whose leads could not be counted does not say that these are all', async () => {
  await hub.query(
    `insert into hub.leads (project_id, name, stage)
     select id, 'Veri ' || n, 'meeting' from hub.projects, generate_series(1, 101) as n where slug = 'demir'`,
  )
  const opened = await visit(browser, hub, '/hub/p/demir/today')
  const { page, context } = opened
  const asked = '**/api/cockpit/projects/kpi/demir'
  await context.route(asked, (route) => route.fulfill({ status: 500, json: {} }))
  await page.goto('/hub/p/demir/sales')
  const column = page.locator('[data-stage=meeting] h2')
  await column.getByText('100+').waitFor()
  await context.unroute(asked)
  await page.reload()
  await column.getByText('101', { exact: true }).waitFor()
  expectClean(opened)
})

test('a daily limit that is written as 1.000 is a thousand, and not one', async () => {
  const opened = await visit(browser, hub, '/hub/settings/mail')
  const { page } = opened
  const limit = page.locator('[name=daily_cap]')
  const form = page.locator('form').filter({ has: limit })
  await limit.fill('1.000')
  await form.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  const { mail } = await (await hub.call('GET', 'settings/mail')).json()
  expect(mail.daily_cap).toBe(1000)
  await limit.fill('')
  await form.getByRole('button', { name: 'Save changes' }).click()
  await eventually(() => limit.getAttribute('aria-invalid')).toBe('true')
  expectClean(opened)
})

test('leads that were deleted are gone, though somebody signs out at once', async () => {
  await hub.call('POST', 'lead/quick_add', { slug: 'demir', data: { name: 'Veri Silinen' } })
  const opened = await visit(browser, hub, '/hub/p/demir/leads?q=Silinen')
  const { page } = opened
  await page.getByRole('checkbox', { name: /Veri Silinen/ }).check()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('button', { name: 'Undo' }).waitFor()
  await page.getByRole('button', { name: 'Language, theme and shortcuts' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL(/\/hub\/login/)
  const left = await hub.query("select from hub.leads where name = 'Veri Silinen'")
  expect(left).toHaveLength(0)
  expectClean(opened)
})
