import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  eventually,
  expectClean,
  open,
  type ServedHub,
  serveHub,
  settled,
  signIn,
  startBrowser,
} from './browser.ts'

let hub: ServedHub
let browser: Browser
beforeAll(async () => {
  hub = await serveHub()
  browser = await startBrowser()
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir Lojistik' })
})
afterAll(async () => {
  await browser?.close()
  await hub?.close()
})

test('what agents read is changed on the page, and a project is deleted by typing its name', async () => {
  const opened = await open(browser, hub.origin)
  await signIn(hub, opened)
  const { page } = opened
  await page.goto('/hub/p/demir/project')
  await settled(page)
  await page.getByLabel('Tone of voice').fill('Warm and short.')
  await page.getByLabel('Website').fill('not an address')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.locator('[aria-invalid=true]').waitFor()
  await page.getByLabel('Website').fill('demir.example')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await page.getByText('The project was saved').waitFor()
  const context = join(hub.paths.data_dir, 'projects/demir/CONTEXT.md')
  expect(await readFile(context, 'utf8')).toContain('Warm and short.')

  await page.getByRole('button', { name: 'Create list' }).click()
  await page.getByText('No listmonk is connected.').waitFor()

  await page.getByRole('button', { name: 'Delete project' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete project' })
  await dialog.getByLabel('Type Demir Lojistik to delete it').fill('demir')
  await dialog.getByRole('button', { name: 'Delete this project' }).click()
  await dialog.getByText('Type the name of the project to delete it.').waitFor()
  await dialog.getByLabel('Type Demir Lojistik to delete it').fill('Demir Lojistik')
  await dialog.getByRole('button', { name: 'Delete this project' }).click()
  await page.getByText(/Deleted\. Its archive is/).waitFor()
  await eventually(async () => (await hub.query('select from hub.projects')).length).toBe(0)
  expectClean(opened)
})
