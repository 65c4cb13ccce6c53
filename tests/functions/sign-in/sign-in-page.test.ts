import { serve } from '@hono/node-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signLink } from '../../../functions/links.ts'
import { asOperator, createLink } from '../../../scripts/postgres/accounts.ts'
import { open, sharedBrowser } from '../../hub/web/browser.ts'
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

test('the link of a message leads to the sign-in, and from there to its alert', async () => {
  const { page, wrongs } = await open(await sharedBrowser(), origin)
  const subject = { alert_id: alert, channel_id: channel }
  const path = { seal: service.seal, public_url: '' }
  const expires_at = new Date(Date.now() + 60_000)
  await page.goto(await signLink(path, { purpose: 'acknowledge', subject, expires_at }))
  await page.getByRole('button', { name: 'Gördüm' }).click()
  await page.getByRole('link', { name: 'Watchpost’ta oturum açın' }).click()
  await page.getByLabel('Your sign-in link').fill(`${origin}/sign-in#${await tokenFor(owner)}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'The <i>quay</i>: M 5 <b>north</b>' }).waitFor()
  expect(await page.getByText('It reaches 40.').isVisible()).toBe(true)
  expect(new URL(page.url()).search).toBe(`?alert=${alert}`)

  await page.getByRole('button', { name: 'Snooze its zone for 24 hours' }).click()
  await page.getByText('The zone is snoozed until').waitFor()
  await page.getByRole('button', { name: 'Resolve the alert' }).click()
  await page.getByText('The alert is resolved.').waitFor()
  const [stored] = await service.database.query(
    `select a.resolved, a.resolved_by, z.snoozed_until > now() + interval '23 hours' as is_snoozed
    from watchpost.alerts a join watchpost.zones z on z.id = a.zone_id where a.id = $1`,
    [alert],
  )
  expect(stored).toEqual({ resolved: true, resolved_by: owner.user_id, is_snoozed: true })
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
    expect.stringContaining(
      `<a href="../sign-in?alert=${alert}">Watchpost’ta oturum açın</a>.</p>`,
    ),
  ])
})

test('somebody else is told that there is no such alert, and signed in', async () => {
  const { page } = await open(await sharedBrowser(), origin)
  await page.goto(`/sign-in?alert=${alert}#${await tokenFor(await service.person())}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Signed in as').waitFor()
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('button', { name: 'Resolve the alert' }).isVisible()).toBe(false)
})

test('what is no id leads nowhere, and a link works once', async () => {
  const { page } = await open(await sharedBrowser(), origin)
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const path = `/sign-in?alert=..%2Faccount#${await tokenFor(owner)}`
  await page.goto(path)
  expect(await page.getByLabel('Your sign-in link').isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Signed in as').waitFor()
  expect(asked.filter((each) => each.startsWith('/api'))).toEqual([])
  await page.goto('about:blank')
  await page.goto(path)
  await page.getByRole('button', { name: 'Sign in' }).click()
  expect(await page.getByRole('alert').textContent()).toContain('has been used')
})
