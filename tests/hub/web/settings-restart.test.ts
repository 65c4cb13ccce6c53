import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { expectClean, open, PASSWORD, sharedBrowser } from './browser.ts'
import { useRealHub } from './real-hub.ts'

let browser: Browser
beforeAll(async () => {
  browser = await sharedBrowser()
}, 60_000)

const started = useRealHub(90_000)

test('a hub that really restarts takes the service key, makes a backup, and becomes as the backup has it', async () => {
  const { folder, origin, code } = started()
  const opened = await open(browser, origin)
  const { page, context } = opened
  const post = async (path: string, data: object) =>
    context.request.post(`/api/cockpit/${path}`, { data })
  expect((await post('setup', { code, password: PASSWORD })).status()).toBe(200)
  await page.goto('/hub/settings/service-key')
  await page.getByText('The public key: the hub only reads').waitFor()
  const key = await readFile(join(folder, 'service.key'), 'utf8')
  await page.getByRole('textbox', { name: 'Service key' }).fill(key)
  await page.getByRole('button', { name: 'Use this key' }).click()
  await page.getByText('The service key: the hub reads and writes').waitFor({ timeout: 60_000 })

  expect((await post('projects/create', { slug: 'demir', name: 'Demir' })).status()).toBe(201)
  const data = { name: 'Kept Lead' }
  expect((await post('lead/quick_add', { slug: 'demir', data })).status()).toBe(201)
  await page.goto('/hub/settings/backup')
  await page.getByRole('button', { name: 'Back up now' }).click()
  await page.getByText('Backup finished').waitFor({ timeout: 60_000 })
  const name = (await page.locator('li').getByText('.tar.gz').first().textContent()) ?? ''
  const { leads } = await (
    await context.request.get('/api/cockpit/leads/list?project=demir')
  ).json()
  const gone = await post('leads/bulk', { project: 'demir', ids: [leads[0].id], delete: true })
  expect(gone.status()).toBeLessThan(300)

  await page.getByRole('button', { name: `More actions: ${name}` }).click()
  await page.getByRole('menuitem', { name: 'Check' }).click()
  const check = page.getByRole('dialog', { name: 'Check a backup' })
  await check.getByRole('button', { name: 'Check' }).click()
  await check.getByText(/^Intact:/).waitFor({ timeout: 30_000 })
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: `More actions: ${name}` }).click()
  await page.getByRole('menuitem', { name: 'Restore' }).click()
  const dialog = page.getByRole('dialog', { name: 'Restore this backup?' })
  const restore = dialog.getByRole('button', { name: 'Restore everything' })
  expect(await restore.isDisabled()).toBe(true)
  await dialog.getByLabel('Type the name of the backup to confirm').fill(name)
  await restore.click()
  await page.getByText('The hub is running again.').waitFor({ timeout: 90_000 })
  await page.goto('/hub/p/demir/leads')
  await page.getByRole('button', { name: 'Kept Lead' }).waitFor()
  await page.goto('/hub/settings/mail')
  await page.getByText('A backup was restored').waitFor()
  await page.getByRole('button', { name: 'Resume mail' }).click()
  await page.getByRole('button', { name: 'Pause all mail' }).waitFor()
  expectClean(opened)
}, 240_000)
