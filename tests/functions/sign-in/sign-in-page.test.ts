import { serve } from '@hono/node-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signLink } from '../../../functions/links.ts'
import { buildWeb } from '../../../scripts/build/build-web.ts'
import { asOperator, createLink } from '../../../scripts/postgres/accounts.ts'
import { expectAccessible, open, sharedBrowser } from '../../hub/web/browser.ts'
import { createIssuingApp, type IssuingApp } from '../../support/servers/issuing-app.ts'
import { createService, type Person, type Service } from '../../support/service.ts'

let service: Service
let app: IssuingApp
let server: ReturnType<typeof serve>
let origin: string
let owner: Person
let alert: string
let channel: string

beforeAll(async () => {
  await buildWeb('console')
  service = await createService()
  app = await createIssuingApp(service)
  server = serve({ fetch: (request) => app.fetch(request), hostname: '127.0.0.1', port: 0 })
  await new Promise<void>((resolve) => server.once('listening', () => resolve()))
  const address = server.address()
  origin = `http://localhost:${typeof address === 'object' && address ? address.port : 0}`
  owner = await service.person()
  channel = await id(
    `insert into watchpost.channels (owner_id, kind, label, target_sealed, target_masked, language)
    values ($1, 'webhook', 'Desk', 'sealed', 'masked', 'tr') returning id`,
    [owner.user_id],
  )
  const zone = await id(
    `insert into watchpost.zones (owner_id, label, lat, lon, boxes)
    values ($1, 'The <i>quay</i>', 1, 2, array[box '(3,2),(1,0)']) returning id`,
    [owner.user_id],
  )
  const event = { id: 'test:1', source: 'test', type: 'earthquake', title: 'M 5 <b>north</b>' }
  const where = { lat: 1, lon: 2, ts: '2026-01-01T00:00:00.000Z', severity: 50, url: null }
  alert = await id(
    `insert into watchpost.alerts (zone_id, zone_name, owner_id, event_id, source, event, severity, reason, first_reason,
      status, raised_at, checks, zone_version, event_revision)
    values ($1, 'The <i>quay</i>', $2, 'test:1', 'test', $3, 50, 'It reaches 40.', 'r', 'dispatched', now(), '[]', 1, 1)
    returning id`,
    [zone, owner.user_id, { ...event, ...where }],
  )
  await service.database.query(
    `insert into watchpost.deliveries (alert_id, channel_id, type, status) values ($1, $2, 'alert.raised', 'succeeded')`,
    [alert, channel],
  )
})
afterAll(async () => {
  server?.close()
  await app?.close()
  await service?.close()
})

async function id(statement: string, values: unknown[]): Promise<string> {
  const [row] = await service.database.query<{ id: string }>(statement, values)
  return row?.id ?? ''
}

/** What follows `#` in a sign-in link. */
const tokenFor = async ({ email }: Person) =>
  (await asOperator(service.database.adminUrl, (sql) => createLink(sql, { email }))).token_hash

test('the link of a message leads to its alert in the console, and to the sign-in before', async () => {
  const { page, wrongs } = await open(await sharedBrowser(), origin, { language: 'tr' })
  const subject = { alert_id: alert, channel_id: channel }
  const path = { seal: service.seal, public_url: '' }
  const expires_at = new Date(Date.now() + 60_000)
  await page.goto(await signLink(path, { purpose: 'acknowledge', subject, expires_at }))
  await page.getByRole('button', { name: 'Gördüm' }).click()
  await page.getByRole('link', { name: 'konsolda açın' }).click()
  await page.getByLabel('Oturum bağlantısı').fill(`${origin}/sign-in#${await tokenFor(owner)}`)
  await page.getByRole('button', { name: 'Oturum aç' }).click()
  await page.getByRole('heading', { name: 'M 5 <b>north</b>' }).first().waitFor()
  expect(new URL(page.url()).hash).toContain(alert)
  expect(wrongs).toEqual([])
})

test('so does one that has expired', async () => {
  const expired = await signLink(
    { seal: service.seal, public_url: '' },
    {
      purpose: 'acknowledge',
      subject: { alert_id: alert, channel_id: channel },
      expires_at: new Date(Date.now() - 60_000),
    },
  )
  await service.database.query(
    'update watchpost.alerts set seen_at = null, seen_via = null, seen_channel_id = null',
  )
  const answer = await app.fetch(expired)
  expect([answer.status, await answer.text()]).toEqual([
    410,
    expect.stringContaining(`<a href="../#/alerts/${alert}">konsolda açın</a>.</p>`),
  ])
})

test('a link opens the console, in the language of the browser, once', async () => {
  const { page, wrongs } = await open(await sharedBrowser(), origin, { language: 'tr' })
  const link = `/sign-in#${await tokenFor(owner)}`
  await page.goto(link)
  await page.getByRole('heading', { name: 'Watchpost’ta oturum açın' }).waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Oturum aç' }).click()
  await page.getByRole('heading', { name: 'Olaylar', exact: true }).waitFor()
  // The page of the link is not in the history any more: going back does not ask once more.
  await page.goto('about:blank')
  await page.goto(link)
  await page.getByRole('button', { name: 'Oturum aç' }).click()
  const problem = page.getByRole('alert')
  await problem.getByText('Bu bağlantı daha önce kullanıldı').waitFor()
  await page.getByText('npm run admin -- account link').waitFor()
  await page.context().route('**/auth/v1/verify', (route) => route.abort('connectionrefused'))
  await page.getByRole('button', { name: 'Oturum aç' }).click()
  await problem.getByText('Hizmete ulaşılamıyor. Yeniden deneyin.').waitFor()
  expect(await page.getByText('npm run admin -- account link').isVisible()).toBe(false)
  expect(wrongs.filter((wrong) => !wrong.startsWith('request'))).toEqual([])
})

test('a session is kept until by the clock of the browser, and a refusal says when to try again', async () => {
  const { page, context } = await open(await sharedBrowser(), origin)
  const answers = [
    { status: 429, json: { code: 'over_request_rate_limit', message: 'Try again in 7 s.' } },
    { status: 502, body: '<h1>Bad gateway' },
    { status: 200, json: { access_token: 'a', expires_in: 600, expires_at: 1 } },
  ]
  await context.route('**/auth/v1/verify', (route) => route.fulfill(answers.shift() ?? {}))
  await page.goto('/sign-in#token')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').getByText('Try again in 7 s.').waitFor()
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').getByText('The service did not answer as it should.').waitFor()
  // What the console makes of it does not matter here.
  await context.route(`${origin}/`, (route) => route.fulfill({ body: 'the console' }))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('the console').waitFor()
  const kept = await page.evaluate(() => localStorage.getItem('watchpost.session') ?? '')
  const left = JSON.parse(kept).expires_at - Date.now() / 1000
  expect(left).toBeGreaterThan(500)
  expect(left).toBeLessThanOrEqual(600)
})

test('without a token the console asks for a link', async () => {
  const { page } = await open(await sharedBrowser(), origin)
  await page.goto('/sign-in')
  await page.getByLabel('Sign-in link').waitFor()
  expect(new URL(page.url()).pathname).toBe('/')
})
