import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectAccessible, expectClean, expectNoSideways, open } from '../hub/web/browser.ts'
import { quake } from '../support/jobs.ts'
import { type Person, sendResult } from '../support/service.ts'
import { makeChannel, makeZone, type ServedConsole, serveConsole } from './console.ts'

const PLACE = { lat: 41, lon: 29 }
let at: ServedConsole
let owner: Person
let alert: string
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-evidence-'))
  at = await serveConsole()
  at.service.receiver.answer = () => sendResult(200)
  owner = await at.service.person()
  await makeZone(at, owner, { label: 'The strait', ...PLACE })
  await makeChannel(at, owner, { label: 'On call' })
  await at.jobs.ingest(quake({ ...PLACE, title: 'M 5.1 - proved' }))
  await at.jobs.drain()
  const answer = await at.service.request('GET', '/api/v1/alerts', { key: owner.key })
  alert = (answer.body as { alerts: { id: string }[] }).alerts[0]?.id ?? '' // safe: 200
})
afterAll(async () => {
  await at?.close()
  if (folder) await rm(folder, { recursive: true })
})

async function downloaded(page: Page, button: string): Promise<string> {
  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: button }).click()
  const path = join(folder, 'record.json')
  await (await coming).saveAs(path)
  return path
}

test('the evidence of an alert is read, downloaded and printed; it is signed once the alert is resolved', async () => {
  const opened = await at.visit(owner, `/#/alerts/${alert}`, { theme: 'dark' })
  const { page } = opened
  await page.getByRole('link', { name: 'Evidence' }).click()
  await page.getByText('Not signed yet').waitFor()
  await page.getByRole('link', { name: 'Back to the alert' }).click()
  await page.getByRole('button', { name: 'Resolve' }).first().click()
  await page.getByRole('button', { name: 'Reopen' }).waitFor()
  await at.jobs.drain()
  await page.goto(`/#/alerts/${alert}/evidence`)
  await page.reload()
  await page.getByText('Record 1, signed').waitFor()
  await page.getByRole('heading', { name: 'M 5.1 - proved' }).waitFor()
  await page.getByText('Severe enough').waitFor()
  await page.getByText('ok · 200').waitFor()
  await page.getByText('alert.resolved').waitFor()
  await expectAccessible(page)
  const file = await readFile(await downloaded(page, 'Download JSON'), 'utf8')
  const given = await at.service.request('GET', `/api/v1/alerts/${alert}/evidence`, owner)
  expect(file).toBe(given.text)
  // On paper: no navigation, no buttons, dark on white, and all of it on one page.
  await page.emulateMedia({ media: 'print' })
  expect(await page.getByRole('navigation').isVisible()).toBe(false)
  expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false)
  expect(await page.getByText('alert.resolved').isVisible()).toBe(true)
  const colour = await page.evaluate(() => getComputedStyle(document.documentElement).color)
  expect(colour).toBe('rgb(0, 0, 0)')
  const pdf = (await page.pdf({ format: 'A4' })).toString('latin1')
  expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
  expectClean(opened)
})

test('a record is checked without an account, and nothing of it is sent; a changed byte is refused', async () => {
  const good = join(folder, 'record.json')
  const text = await readFile(good, 'utf8')
  const opened = await open(at.browser, at.origin, { theme: 'dark' })
  const { page } = opened
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.method() !== 'GET') asked.push(request.url())
  })
  await page.goto('/#/evidence')
  await page.getByRole('heading', { name: 'Check evidence' }).waitFor()
  await page.getByLabel('File').setInputFiles(good)
  await page.getByText('This evidence is good').waitFor()
  await page.getByRole('heading', { name: 'M 5.1 - proved' }).waitFor()
  await expectAccessible(page)
  const cases: [content: string, reason: string][] = [
    [text.replace('"severity":60', '"severity":61'), 'The signature does not fit'],
    [JSON.stringify(JSON.parse(text), null, 2), 'not as it was signed'],
    ['{}', 'not a record of Watchpost'],
    ['no', 'The file is not JSON'],
  ]
  for (const [content, reason] of cases) {
    const path = join(folder, 'other.json')
    await writeFile(path, content)
    await page.getByLabel('File').setInputFiles([])
    await page.getByLabel('File').setInputFiles(path)
    await page.getByRole('alert').filter({ hasText: reason }).waitFor()
    expect(await page.getByText('This evidence is good').count()).toBe(0)
  }
  expect(asked).toEqual([])
  await page.getByRole('link', { name: 'To the console' }).click()
  await page.getByRole('heading', { name: 'Sign in to Watchpost' }).waitFor()
  expectClean(opened)
})

test('both pages are in Turkish, in light colours and on a phone, too', async () => {
  const look = { language: 'tr', theme: 'light', isPhone: true } as const
  const opened = await at.visit(owner, `/#/alerts/${alert}/evidence`, look)
  const { page } = opened
  await page.getByText('1. kayıt, imzalı').waitFor()
  await page.getByText('Kim ne yaptı').waitFor()
  await expectAccessible(page)
  await expectNoSideways(page)
  await page.getByRole('link', { name: 'Kanıtı denetle' }).click()
  await page.getByLabel('Dosya').setInputFiles(join(folder, 'record.json'))
  await page.getByText('Bu kanıt geçerli').waitFor()
  await expectAccessible(page)
  await expectNoSideways(page)
  expectClean(opened)
})
