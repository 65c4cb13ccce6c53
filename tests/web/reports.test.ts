import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { actsText, wordsOfAct } from '../../web/pages/reports/acts.text.ts'
import { reportsText } from '../../web/pages/reports/reports.text.ts'
import { expectClean } from '../hub/web/browser.ts'
import { quake } from '../support/jobs.ts'
import type { Person } from '../support/service.ts'
import { makeChannel, makeZone, type ServedConsole, serveConsole } from './console.ts'

const SQL = resolve(import.meta.dirname, '../../sql')
const PLACE = { lat: 41, lon: 29 }
let at: ServedConsole
let owner: Person

beforeAll(async () => {
  at = await serveConsole()
  owner = await at.service.person()
  await makeZone(at, owner, { label: '=The strait', ...PLACE })
  await makeChannel(at, owner, { label: 'On call' })
  await at.jobs.ingest(quake({ ...PLACE, title: 'M 5.1 - counted' }))
  await at.jobs.drain()
})
afterAll(() => at?.close())

test('alerts are counted by day, source and zone; numbers stand in tables, too', async () => {
  const opened = await at.visit(owner, '/#/reports')
  const { page } = opened
  await page.getByRole('heading', { name: 'Alerts by day' }).waitFor()
  await page.getByText('Nothing was lost').waitFor()
  const today = page.getByRole('table', { name: 'Alerts by day' }).getByRole('row').last()
  expect(await today.getByRole('cell').textContent()).toBe('1')
  await page.getByRole('link', { name: '=The strait' }).click()
  await page.getByRole('heading', { name: '=The strait' }).waitFor()
  expectClean(opened)
})

test('what was done is listed, filtered, and exported whole, without formulas', async () => {
  const opened = await at.visit(owner, '/#/reports/audit')
  const { page } = opened
  await page.getByText('Zone created: =The strait').waitFor()
  await page.getByLabel('Kind').selectOption('channel')
  await page.getByText('Channel created: On call').waitFor()
  expect(await page.getByText('Zone created').count()).toBe(0)
  // The filter stands in the address.
  await page.getByLabel('Period').selectOption('90')
  await page.reload()
  await page.getByText('Channel created: On call').waitFor()
  expect(await page.getByLabel('Kind').inputValue()).toBe('channel')
  expect(await page.getByLabel('Period').inputValue()).toBe('90')
  const fileOf = async (name: string) => {
    const coming = page.waitForEvent('download')
    await page.getByRole('button', { name }).click()
    return (await (await (await coming).createReadStream()).toArray()).join('')
  }
  const rows = JSON.parse(await fileOf('Export JSON'))
  expect(rows.map(({ target_type }: { target_type: string }) => target_type)).toEqual(
    rows.map(() => 'channel'),
  )
  await page.getByLabel('Kind').selectOption('')
  const csv = await fileOf('Export CSV')
  expect(csv).toMatch(/^id,at,actor_id,/)
  expect(csv).toContain('zone.created')
  expectClean(opened)
})

test('each act that the database records has words, and its kind can be chosen', () => {
  const files = readdirSync(SQL).filter((name) => name.endsWith('.sql'))
  const sql = files.map((name) => readFileSync(join(SQL, name), 'utf8')).join('\n')
  const found = (form: RegExp) => [...sql.matchAll(form)].map(([, name = '']) => name)
  const changes = sql.slice(
    sql.indexOf('function private.audit_change('),
    sql.indexOf('function private.label_of('),
  )
  const verbs = [...changes.matchAll(/(?:then|else|:=) '([a-z_]+)'/g)].map(([, verb = '']) => verb)
  expect(verbs).toEqual(expect.arrayContaining(['restored', 'revoked', 'acknowledged', 'invited']))
  const things = found(/private\.audit_change\('([a-z_]+)'\)/g)
  expect(things).toEqual(expect.arrayContaining(['zone', 'alert', 'sign_in_link']))
  const actions = [
    ...found(/private\.record_audit\(\s*'([a-z_]+\.[a-z_]+)'/g),
    ...things.flatMap((thing) =>
      ['created', 'updated', ...verbs].map((verb) => `${thing}.${verb}`),
    ),
    ...['created', 'rotated', 'revoked'].map((verb) => `feed_link.${verb}`),
    'request.refused',
  ]
  for (const language of ['en', 'tr'] as const) {
    for (const action of actions) {
      expect(wordsOfAct(action, actsText[language]), `${language} ${action}`).toBeDefined()
      expect(reportsText[language].kinds, action).toHaveProperty(action.split('.')[0] ?? '')
    }
  }
  expect(wordsOfAct('channel.secret_rotated', actsText.en)).toEqual([
    'Channel',
    'signing secret replaced',
  ])
  expect(wordsOfAct('comet.seen', actsText.tr)).toBeUndefined()
})

test('each source says whether it delivers', async () => {
  const opened = await at.visit(owner, '/#/reports/status')
  await opened.page.getByRole('heading', { level: 2 }).first().waitFor()
  expect(await opened.page.getByText('Last answer').count()).toBeGreaterThan(0)
  expectClean(opened)
})
