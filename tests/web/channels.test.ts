import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEFAULT_MESSAGES } from '../../shared/schemas/channel.ts'
import { eventually, expectClean, settled } from '../hub/web/browser.ts'
import { quake } from '../support/jobs.ts'
import { type Person, sendResult } from '../support/service.ts'
import { makeChannel, makeZone, type ServedConsole, serveConsole } from './console.ts'

const PLACE = { lat: 41, lon: 29 }
let at: ServedConsole
let owner: Person

beforeAll(async () => {
  at = await serveConsole()
  owner = await at.service.person()
  await makeZone(at, owner, { label: 'The strait', ...PLACE })
})
afterAll(() => at?.close())

type Found = { id: string; label: string; messages: string[] }

async function channels(): Promise<Found[]> {
  const { body } = await at.service.request('GET', '/api/v1/channels', { key: owner.key })
  return (body as { channels: Found[] }).channels // safe: 200
}

test('a webhook is added, its secret shown once, tested, and gets an alert; its answers are shown', async () => {
  const opened = await at.visit(owner, '/#/channels')
  const { page } = opened
  await page.getByText('A channel is where alerts go').waitFor()
  // Whoever has none is offered the kinds at once.
  await page.getByRole('heading', { name: 'Where should alerts go?' }).waitFor()
  await page.getByRole('link', { name: /^Webhook/ }).click()
  await page.getByRole('button', { name: 'Add channel' }).click()
  await eventually(() => page.getByLabel('URL').getAttribute('aria-invalid')).toBe('true')
  await page.getByLabel('URL').fill('https://hooks.example.com/watchpost')
  await page.getByLabel('Headers').fill('X-Team: night')
  await page.getByLabel('Name').fill('On call')
  await page.getByLabel('It is over').uncheck()
  await page.getByRole('button', { name: 'Add channel' }).click()
  const secret = page.getByRole('dialog').getByLabel('Signing secret')
  expect(await secret.inputValue()).toMatch(/^whsec_/)
  await page.getByRole('button', { name: 'I have kept it' }).click()
  await page.getByRole('heading', { name: 'On call' }).waitFor()
  const [made] = await channels()
  expect(made).toMatchObject({ label: 'On call', config: { headers: { 'X-Team': 'night' } } })
  expect(made?.messages?.toSorted()).toEqual(
    DEFAULT_MESSAGES.filter((type) => type !== 'alert.ended').toSorted(),
  )

  at.service.receiver.answer = () => sendResult(503, 'the queue is full')
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByRole('heading', { name: 'The test did not arrive.' }).waitFor()
  await page.getByText('the queue is full').first().waitFor()
  at.service.receiver.answer = () => sendResult(200, 'thank you')
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByRole('heading', { name: 'The receiver accepted the test.' }).waitFor()

  await at.jobs.ingest(quake({ ...PLACE, title: 'M 5.1 - told' }))
  await at.jobs.drain()
  const line = page.getByRole('listitem').filter({ hasText: 'A new alert' })
  await line.getByText('Delivered').waitFor()
  await line.getByText('A new alert').click()
  await line.getByText('thank you').waitFor()
  const sent = at.service.receiver.requests.length
  await line.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('It is sent again.').waitFor()
  await at.jobs.drain()
  expect(at.service.receiver.requests.length).toBe(sent + 1)

  // The alert shows the same way of its messages.
  await line.last().getByRole('link', { name: 'Its alert' }).click()
  const way = page.getByRole('listitem').filter({ hasText: 'A new alert' })
  await eventually(() => way.count()).toBe(2)
  await way.first().getByText('Delivered').click()
  await way.first().getByText('thank you').waitFor()
  await page.getByText('Sent to On call').waitFor()
  expectClean(opened)
})

test('a channel that fails says why; it is changed, switched off, deleted, and restored', async () => {
  const made = await at.service.request('POST', '/api/v1/channels', {
    key: owner.key,
    body: { kind: 'ntfy', target: 'https://ntfy.example.com/alerts', label: 'Phones' },
  })
  expect(made.status).toBe(201)
  const { id } = (made.body as { channel: { id: string } }).channel // safe: 201
  await at.service.database.query(
    `update watchpost.channels set status = 'failing', failing_reason = 'no answer within 15 s', failing_since = now()
     where id = $1`,
    [id],
  )
  const opened = await at.visit(owner, `/#/channels/${id}`)
  const { page } = opened
  await page.getByText('Its receiver fails: no answer within 15 s').waitFor()
  await page.getByText('Settings').click()
  await page.getByLabel('Topic URL').fill('nowhere')
  await page.getByRole('button', { name: 'Save' }).click()
  await eventually(() => page.getByLabel('Topic URL').getAttribute('aria-invalid')).toBe('true')
  await page.getByLabel('Topic URL').fill('https://ntfy.example.com/others')
  await page.getByLabel('Access token').fill('tk_0123456789abcdefghijklmnopqrs')
  await page.getByLabel('Language of its messages').selectOption('tr')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Saved.').waitFor()
  const find = async () => (await channels()).find((channel) => channel.id === id)
  expect(await find()).toMatchObject({
    target: 'https://ntfy.example.com/others',
    config: { token: 'tk_0123456789abcdefghijklmnopqrs' },
    language: 'tr',
    status: 'ok',
  })
  await page.getByRole('button', { name: 'Switch off' }).click()
  await page.getByText('It was switched off.').waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Phones is deleted.').waitFor()
  expect(await find()).toBeUndefined()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('link', { name: /Phones/ }).waitFor()
  await page.goto('/#/channels/5f0e2f6e-0000-4000-8000-000000000000')
  await settled(page)
  await page.getByText('It was deleted, or it is not shared with you.').waitFor()
  expectClean(opened)
})

test('what somebody types into the settings of a channel stays when the channel changes meanwhile', async () => {
  const id = await makeChannel(at, owner, { label: 'Night desk' })
  const opened = await at.visit(owner, `/#/channels/${id}`)
  const { page } = opened
  await page.getByText('Settings', { exact: true }).click()
  const name = page.getByLabel('Name')
  await name.fill('Night desk, second floor')
  // As each delivery does that fails.
  const body = { messages: ['alert.raised'] }
  await at.service.request('PATCH', `/api/v1/channels/${id}`, { key: owner.key, body })
  await page.evaluate(() => window.__TANSTACK_QUERY_CLIENT__?.invalidateQueries())
  expect(await name.inputValue()).toBe('Night desk, second floor')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Night desk, second floor' }).waitFor()
  const saved = (await channels()).find((one) => one.id === id)
  expect(saved).toMatchObject({ label: 'Night desk, second floor', messages: ['alert.raised'] })
  await settled(page)
  expect(await page.getByLabel('It is over').isChecked()).toBe(false)
  expectClean(opened)
})
