import { readdir, readFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildWeb } from '../../scripts/build/build-web.ts'
import { type OperatorServer, startOperator } from '../../scripts/operator/server.ts'
import { createOperatorLink } from '../../scripts/operator/sessions.ts'
import { asOperator } from '../../scripts/postgres/accounts.ts'
import {
  eventually,
  expectAccessible,
  expectClean,
  expectNoSideways,
  type Look,
  open,
  settled,
  sharedBrowser,
} from '../hub/web/browser.ts'
import { createService, type Person, type Service } from '../support/service.ts'
import { unreached } from './reach.ts'

const DIST = join(import.meta.dirname, '../../dist')
const PAGES = ['', 'feeds', 'queues', 'jobs', 'accounts', 'acts']

let service: Service
let server: OperatorServer
let browser: Browser
let person: Person
beforeAll(async () => {
  await buildWeb('operator')
  service = await createService()
  person = await service.person()
  browser = await sharedBrowser()
  server = await startOperator(
    { host: '127.0.0.1', port: 0, is_chosen: false },
    { adminUrl: service.database.adminUrl, public_url: 'https://watchpost.test', log: () => {} },
  )
  await service.database.query(
    `insert into watchpost.sources (source, title, attribution, types, interval_seconds, error, error_at)
    values ('quiet', 'Quiet', 'Nobody', '{other}', 60, 'answered HTTP 500', now())`,
  )
  await service.database.query(
    `insert into pgboss.job (name, data, policy, source_name, source_output)
    select 'dead', '{"source": "quiet"}', 'standard', 'match', jsonb_build_object('message', 'It broke ' || n)
    from generate_series(1, 2) n`,
  )
})
afterAll(async () => {
  await server?.stop()
  await service?.close()
})

async function link(): Promise<string> {
  const { token } = await asOperator(service.database.adminUrl, (client) =>
    createOperatorLink(client, { name: 'ayse' }),
  )
  return `/#${token}`
}

async function visit(look?: Look) {
  const opened = await open(browser, server.url, look)
  await opened.page.goto(await link())
  await opened.page.locator('form button[type=submit]').click()
  await opened.page.getByRole('navigation').waitFor()
  await settled(opened.page)
  return opened
}

test('an operator signs in by a link, changes a plan, revokes a key, discards a job, pauses a feed, and is named', async () => {
  const opened = await visit()
  const { page } = opened
  expect(page.url()).not.toMatch(/#[\w-]{43}/)

  await page.keyboard.press('g')
  await page.keyboard.press('a')
  await page.getByLabel('Part of an address').fill(person.email.slice(0, 20))
  await page.getByRole('link', { name: person.email }).click()
  await page.getByLabel('Plan').selectOption('enterprise')
  await page.getByRole('button', { name: 'Change the plan' }).click()
  await page.getByText('The plan is changed.').waitFor()
  await page.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('Revoked').first().waitFor()
  expect((await service.request('GET', '/api/v1/me', { key: person.key })).status).toBe(401)
  await page.getByRole('button', { name: 'Make a link' }).click()
  const made = page.getByRole('textbox', { name: 'Sign-in link' })
  expect(await made.inputValue()).toMatch(/^https:\/\/watchpost\.test\/sign-in#/)
  await page.keyboard.press('Escape')

  await page.getByRole('link', { name: 'Dead jobs' }).click()
  await page.getByRole('listitem').filter({ hasText: 'It broke 1' }).getByText('Discard').click()
  await page.getByLabel('Reason').fill('Too old')
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
  await page.getByText('The job is discarded.').waitFor()
  await eventually(() => page.getByText('It broke 1').count()).toBe(0)

  await page.getByRole('link', { name: 'Feeds' }).click()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
  await eventually(() => page.getByLabel('Reason').getAttribute('aria-invalid')).toBe('true')
  await page.getByLabel('Reason').fill('It answers 500')
  await expectAccessible(page)
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
  await page.getByText('Paused by an operator: It answers 500').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText('quiet is polled again.').waitFor()

  await page.getByRole('link', { name: 'Audit' }).click()
  for (const act of [
    'feed.resumed',
    'feed.paused',
    'queue.discarded',
    'sign_in_link.created',
    'key.revoked',
    'account.plan_changed',
  ]) {
    await page.getByRole('listitem').filter({ hasText: act }).filter({ hasText: 'ayse' }).waitFor()
  }
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in as an operator' }).waitFor()
  const left = () =>
    page.evaluate(() => window.__TANSTACK_QUERY_CLIENT__?.getQueryCache().getAll().length)
  await eventually(left).toBe(0)
  await page.reload()
  await page.getByLabel('Your link').fill(`${server.url}/#${'A'.repeat(43)}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('This link was used or has expired.').waitFor()
  await expectAccessible(page)
  expectClean(opened)
})

describe('each page', () => {
  test.each<Look>([{ theme: 'dark' }, { theme: 'light', language: 'tr', isPhone: true }])(
    'is accessible and clean, and the keyboard reaches all of it: %j',
    async (look) => {
      const opened = await visit(look)
      for (const path of [...PAGES, `accounts/${person.user_id}`]) {
        await opened.page.goto(`/#/${path}`)
        await settled(opened.page)
        await expectAccessible(opened.page)
        await expectNoSideways(opened.page)
        if (look.language !== 'tr') {
          const { count, missing, unseen } = await unreached(opened.page)
          expect(count, path).toBeGreaterThan(PAGES.length)
          expect({ path, missing, unseen }).toEqual({ path, missing: [], unseen: [] })
          continue
        }
        // What is not translated is data, and stands in <code>.
        const text = await opened.page.evaluate(() => {
          const copy = document.querySelector('main')?.cloneNode(true)
          if (!(copy instanceof HTMLElement)) return ''
          for (const one of copy.querySelectorAll('code, time')) one.remove()
          return [...copy.querySelectorAll('*')].map((one) => one.textContent).join(' ')
        })
        expect(text).not.toMatch(/\b(the|and|of|is|was|Waiting|Plan changed|Key|Running|never)\b/)
      }
      expectClean(opened)
    },
  )
})

test('a used link is told in Turkish, too', async () => {
  const { page } = await open(browser, server.url, { language: 'tr' })
  await page.goto(`/#${'A'.repeat(43)}`)
  await page.locator('form button[type=submit]').click()
  await page.getByText('Bu bağlantı kullanılmış ya da süresi dolmuş.').waitFor()
  await expectAccessible(page)
})

test('a page of another port can do nothing with the session, whose cookie it has', async () => {
  const { context, page } = await visit()
  const other = createServer((socket) =>
    socket.end(
      'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<p>Other</p>',
    ),
  )
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
  const { port } = other.address() as AddressInfo // safe: it listens on a port
  const strange = await context.newPage()
  await strange.goto(`http://127.0.0.1:${port}/`)
  const asked = await strange.evaluate(async (url) => {
    const ask = (path: string, init: RequestInit) =>
      fetch(url + path, { credentials: 'include', mode: 'no-cors', ...init }).then(
        (answer) => answer.type,
        () => 'failed',
      )
    return Promise.all([
      ask('/api/session', {}),
      ask('/api/jobs/redrive', { method: 'POST', body: '{}' }),
    ])
  }, server.url)
  expect(asked.every((type) => type === 'opaque' || type === 'failed')).toBe(true)
  expect(await strange.evaluate(() => localStorage.length)).toBe(0)
  await page.reload()
  await page.getByRole('navigation').waitFor()
  const [row] = await service.database.query<{ count: number }>(
    "select count(*)::integer from watchpost.operator_acts where action = 'queue.redriven'",
  )
  expect(row?.count).toBe(0)
  other.close()
})

test('the console, which is at the public address, has none of it', async () => {
  await buildWeb('console')
  const files = await readdir(join(DIST, 'console'), { recursive: true })
  const scripts = files.filter((name) => name.endsWith('.js'))
  expect(scripts.length).toBeGreaterThan(3)
  for (const name of scripts) {
    const script = await readFile(join(DIST, 'console', name), 'utf8')
    expect(script, name).not.toMatch(/x-operator-page|watchpost\.operator/)
  }
})
