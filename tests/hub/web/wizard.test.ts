import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { readMail } from '../../../hub/mail/settings.ts'
import { writeTinyGguf } from '../support/tiny-gguf.ts'
import {
  expectAccessible,
  expectClean,
  open,
  PASSWORD,
  serveHub,
  settled,
  setUp,
  sharedBrowser,
  signIn,
} from './browser.ts'
import { useRealHub } from './real-hub.ts'

const started = useRealHub(60_000)
let browser: Browser
beforeAll(async () => {
  browser = await sharedBrowser()
}, 60_000)

test('from the set-up code to the first project, through a real restart of the hub', async () => {
  const { folder, origin, code, said } = started()
  const opened = await open(browser, origin)
  const { page } = opened
  await page.goto('/')
  await page.waitForURL(/\/hub\/welcome/)
  await expectAccessible(page)

  await page.getByLabel('Set-up code').fill('wrong')
  await page.getByRole('textbox', { name: 'New password' }).fill(PASSWORD)
  await page.getByRole('textbox', { name: 'Repeat password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByText('The set-up code is wrong.').waitFor()
  await page.getByLabel('Set-up code').fill(code)
  await page.getByRole('button', { name: 'Set password' }).click()

  await page.getByRole('heading', { name: 'Paste the service key' }).waitFor()
  const field = page.getByRole('textbox', { name: 'Service key' })
  await field.fill(`wph_service_${'x'.repeat(32)}`)
  await page.getByRole('button', { name: 'Use this key' }).click()
  await page.getByText('The database does not accept this key.').waitFor()
  await field.fill(await readFile(join(folder, 'service.key'), 'utf8'))
  await page.getByRole('button', { name: 'Use this key' }).click()
  await page.getByText('The hub is restarting with the new key').waitFor()
  await page.getByRole('heading', { name: 'Choose a model' }).waitFor({ timeout: 30_000 })
  expect(said.filter((line) => line.includes('"listening"')).length).toBe(2)
  expect(said.at(-1)).not.toContain('the hub did not start')

  await page.getByRole('radio').first().waitFor({ state: 'attached' })
  await expectAccessible(page)
  // What was copied onto the machine can be chosen beside the presets.
  await writeTinyGguf(join(folder, 'models/tiny.gguf'))
  await page.reload()
  await page.getByText('tiny.gguf').click()
  await page.getByRole('button', { name: 'Use this model' }).click()
  await page.getByRole('heading', { name: 'Enter your license' }).waitFor()
  await page.getByLabel('License key').fill('not.a.key')
  await page.getByRole('button', { name: 'Use this license' }).click()
  await page.getByText('This is not a license key.').waitFor()
  await page.getByRole('button', { name: 'Stay with Free' }).click()

  await page.getByRole('heading', { name: 'Set up mail' }).waitFor()
  await expectAccessible(page)
  // Who leaves and comes back goes on where they were.
  await page.goto('/hub/')
  await page.getByRole('heading', { name: 'Set up mail' }).waitFor()
  await page.getByRole('button', { name: 'Skip for now' }).click()

  await page.getByRole('heading', { name: 'Create your first project' }).waitFor()
  await page.getByLabel('Name', { exact: true }).fill('Öz Demir Lojistik A.Ş.')
  expect(await page.getByLabel('Short name').inputValue()).toBe('oz-demir-lojistik-a-s')
  await page.getByLabel('Website').fill('demir.example')
  await page.getByRole('button', { name: 'Create project' }).click()
  await page.getByRole('heading', { name: 'Who writes for Öz Demir Lojistik A.Ş.?' }).waitFor()
  await expectAccessible(page)
  await page.getByLabel('Sender’s name').fill('Ada')
  await page.getByLabel('Sender’s e-mail').fill('not an address')
  await page.getByRole('button', { name: 'Save brand' }).click()
  await page.locator('[aria-invalid=true]').waitFor()
  await page.getByLabel('Sender’s e-mail').fill('ada@demir.example')
  await page.getByLabel('Postal address').fill('Demir Cad. 1, İstanbul')
  await page.getByRole('button', { name: 'Save brand' }).click()
  await page.waitForURL(/\/hub\/p\/oz-demir-lojistik-a-s\/today/)
  await settled(page)
  await page.getByRole('heading', { name: 'Today' }).waitFor()
  await page.goto('/hub/settings/system')
  await page.getByText('Ready', { exact: true }).waitFor()
  await page.getByText('tiny', { exact: true }).waitFor()

  // A second project is beyond Free: the way out is shown.
  await page.getByRole('button', { name: /Switch project/ }).click()
  await page.getByRole('menuitem', { name: 'Create project' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create project' })
  await dialog.getByLabel('Name', { exact: true }).fill('Kaya Tekstil')
  await dialog.getByRole('button', { name: 'Create project' }).click()
  await dialog.getByRole('link', { name: 'See what other licenses allow' }).waitFor()
  expectClean(opened)
}, 120_000)

test('the mail step opens with what is set up, and keeps the password that it does not show', async () => {
  const hub = await serveHub()
  onTestFinished(() => hub.close())
  const smtp = { host: 'mail.demir.example', port: 2465, security: 'tls', user: 'ada' }
  const listmonk = { url: 'https://list.demir.example', user: 'hub', token: 'list token' }
  await hub.call('PUT', 'settings/mail', { smtp: { ...smtp, password: 'hidden away' }, listmonk })
  const opened = await open(browser, hub.origin)
  await signIn(hub, opened)
  const { page } = opened
  await page.goto('/hub/welcome/mail')
  const host = page.getByLabel('Mail server (SMTP)')
  await host.waitFor()
  const values = ['host', 'port', 'security', 'user', 'password'].map((name) =>
    page.locator(`[name=${name}]`).inputValue(),
  )
  expect(await Promise.all(values)).toEqual(['mail.demir.example', '2465', 'tls', 'ada', ''])
  await page.getByText('listmonk is set up already (https://list.demir.example).').waitFor()
  await page.getByText('One is stored. Leave this empty to keep it.').waitFor()
  await expectAccessible(page)
  await page.getByLabel('Port').fill('465')
  await page.getByRole('button', { name: 'Save mail settings' }).click()
  await host.waitFor({ state: 'detached' })
  expect((await readMail(hub.paths)).smtp).toEqual({ ...smtp, port: 465, password: 'hidden away' })
  expectClean(opened)
})

test('who is not signed in comes to the sign-in, and then where they wanted to go', async () => {
  const hub = await serveHub()
  onTestFinished(() => hub.close())
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  await setUp(hub, await open(browser, hub.origin))
  const opened = await open(browser, hub.origin)
  const { page } = opened
  await page.goto('/hub/p/demir/leads?stage=won')
  await page.waitForURL(/\/hub\/login/)
  await expectAccessible(page)
  await page.getByRole('textbox', { name: 'Password' }).fill('not the password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('[aria-invalid=true]').waitFor()
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(/\/hub\/p\/demir\/leads\?stage=won/)
  await page.getByText('No lead matches this filter').waitFor()
  expectClean(opened)
})
