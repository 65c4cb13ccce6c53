import { mkdirSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiOf } from '../support/mail-help.ts'
import {
  expectAccessible,
  expectClean,
  expectNoSideways,
  type ServedHub,
  serveHub,
  sharedBrowser,
  visit,
} from './browser.ts'

let hub: ServedHub
let browser: Browser
let api: ReturnType<typeof apiOf>
beforeAll(async () => {
  hub = await serveHub({ config: { public_url: 'https://hub.demir.example' } })
  browser = await sharedBrowser()
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
})
afterAll(() => hub.close())

/** Where a person looks at the pages: nothing is written in a test run. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.PICTURES
  if (!folder) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: `${folder}/${name}.png` })
}

test('a brand is typed, seen in a mail at once, and saved; its key shows the record to publish', async () => {
  const opened = await visit(browser, hub, '/hub/p/demir/project/brand')
  const { page } = opened
  await page.getByLabel('Name', { exact: true }).fill('Ayşe Demir')
  await page.getByLabel('E-mail', { exact: true }).fill('ayse@demir.example')
  await page.getByLabel('Signature').fill('Ayşe Demir\nManaging director')
  await page.getByLabel('Postal address').fill('Demir Lojistik, Liman Cad. 1, İzmir')
  await page.getByText('From: Ayşe Demir <ayse@demir.example>').waitFor()
  const mail = page.frameLocator('iframe[title="Preview of a mail"]')
  await mail.getByText('Managing director').waitFor()
  await mail.getByText('Liman Cad. 1').waitFor()
  expect((await api.get('projects/brand?project=demir')).body.brand.sender_email).toBeNull()
  await page.getByRole('button', { name: 'Save brand' }).click()
  await page.getByText('The brand was saved').waitFor()
  expect((await api.get('projects/brand?project=demir')).body.brand).toMatchObject({
    sender_email: 'ayse@demir.example',
    signature: 'Ayşe Demir\nManaging director',
  })
  await page.getByRole('button', { name: 'Make a key' }).click()
  const record = page.getByRole('textbox', { name: 'Copy the name' })
  await record.waitFor()
  expect(await record.inputValue()).toMatch(/\._domainkey\.demir\.example$/)
  await expectAccessible(page)
  await picture(page, 'brand')
  expectClean(opened)
})

test('it fits a phone, in Turkish and in the dark', async () => {
  const look = { theme: 'dark', language: 'tr', isPhone: true } as const
  const opened = await visit(browser, hub, '/hub/p/demir/project/brand', look)
  const { page } = opened
  await page.getByRole('button', { name: 'Markayı kaydet' }).waitFor()
  await page.getByText('Kimden: Ayşe Demir').waitFor()
  await expectNoSideways(page)
  await picture(page, 'brand-phone')
  expectClean(opened)
})

test('the last step of the set-up shows a brand that is half filled, and keeps it', async () => {
  const half = {
    sender_name: null,
    sender_email: null,
    reply_to: 'sales@demir.example',
    signature: 'Ayşe Demir\nManaging director',
    postal_address: 'Liman Cad. 1, İzmir',
  }
  await api.put('projects/brand', { slug: 'demir', ...half })
  const opened = await visit(browser, hub, '/hub/welcome/brand')
  const { page } = opened
  expect(await page.getByLabel('Postal address').inputValue()).toBe(half.postal_address)
  await page.getByLabel('Sender’s name').fill('Ayşe Demir')
  await page.getByLabel('Sender’s e-mail').fill('ayse@demir.example')
  await page.getByRole('button', { name: 'Save brand' }).click()
  await page.waitForURL(/\/hub\/(?!welcome\/brand)/)
  expect((await api.get('projects/brand?project=demir')).body.brand).toMatchObject({
    ...half,
    sender_name: 'Ayşe Demir',
    sender_email: 'ayse@demir.example',
  })
  expectClean(opened)
})
