import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Locator } from 'playwright-core'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createHealth } from '../../../hub/ops/health.ts'
import { PROOF } from '../../support/proof.ts'
import { startListmonk } from '../mail/listmonk/listmonk-stand-in.ts'
import { licenseHub } from '../support/licensed.ts'
import { startOrigin } from '../support/model-origin.ts'
import { startStubModel } from '../support/stub-model.ts'
import {
  eventually,
  expectAccessible,
  expectClean,
  expectNoSideways,
  open,
  PASSWORD,
  type ServedHub,
  serveHub,
  settled,
  sharedBrowser,
  visit,
  walkTo,
} from './browser.ts'
import { readVocabulary, strangers, wordsOn } from './words.ts'

const RECIPIENT = 'age15r2vmxr22k3fjhqw6uvsgqm45z2ye6cmwt9wl62kltdxpcatpg2sv4pffp'

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEpDeVY/Z/uR3/Zzvft1Y1CUsZkI8arvYAN1BdUIx4st'
/** In place of OpenSSH's programs. */
const SSH_PROGRAMS = {
  'ssh-keyscan': `echo "h ${HOST_KEY}"`,
  'ssh-keygen': 'for a; do f=$a; done; echo x > "$f"; echo "ssh-ed25519 AAAAown hub" > "$f.pub"',
}

const colourOf = (shown: Locator) =>
  shown.evaluate((element) => getComputedStyle(element).backgroundColor)

/** A busy machine takes its time. */
const SLOW = { timeout: 20_000 }

const SECTIONS = [
  'models',
  'agents',
  'service-key',
  'mail',
  'suppression',
  'license',
  'branding',
  'backup',
  'system',
  'webhooks',
  'keys',
  'members',
  'audit',
  'account',
]

/** The long form adds English on a desktop in the light. */
const LOOKS = [
  { theme: 'dark', language: 'tr', isPhone: true },
  ...(PROOF ? [{ theme: 'light', language: 'en', isPhone: false } as const] : []),
] as const

let browser: Browser
beforeAll(async () => {
  browser = await sharedBrowser()
}, 60_000)

describe('the sections', () => {
  let hub: ServedHub
  beforeEach(async () => {
    hub = await serveHub()
    await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Veri Lojistik' })
  })
  afterEach(() => hub?.close())

  const openSettings = (section: string, look = {}) =>
    visit(browser, hub, `/hub/settings/${section}`, look)

  test.each(LOOKS)(
    'are accessible and speak one language: %o',
    async (look) => {
      const opened = await openSettings('models', look)
      const { page } = opened
      const vocabulary = await readVocabulary(look.language)
      const data =
        /Veri|@|https?:|^Türkçe$|^English$|^Watchpost Hub$|wph_service|demir\.example|demir\.local|gguf|Qwen|qwen|SmolLM|watchpost-hub|age1|\{\{|^\p{Lu}{2,6} |^[\d.,]+ \p{L}+$|INBOX/u
      const foreign: Record<string, string[]> = {}
      const seen = new Set<string>()
      for (const section of SECTIONS) {
        await walkTo(page, `/hub/settings/${section}`)
        await expectAccessible(page)
        if (look.isPhone) await expectNoSideways(page)
        const said = await wordsOn(page)
        seen.add(said.join('\n'))
        const found = look.language === 'en' ? [] : strangers(said, vocabulary, data)
        if (found.length > 0) foreign[section] = found
      }
      expect(foreign).toEqual({})
      // Each was there when it was looked at: no two say the same.
      expect(seen.size).toBe(SECTIONS.length)
      expectClean(opened)
    },
    180_000,
  )

  test('a model is fetched from its address, stopped, gone on with and put to use', async () => {
    const origin = await startOrigin()
    origin.hold(true)
    const opened = await openSettings('models')
    const { page } = opened
    const form = page.locator('form').filter({ has: page.locator('[name=sha256]') })
    await form.getByLabel('Address').fill(origin.url)
    await form.getByLabel('SHA-256').fill('abc')
    await form.getByRole('button', { name: 'Download and use it' }).click()
    await form.getByText('A SHA-256 checksum has 64 hexadecimal digits.').waitFor()
    await form.getByLabel('SHA-256').fill(origin.sha256)
    await form.getByRole('button', { name: 'Download and use it' }).click()
    await page.getByRole('progressbar', { name: 'Download' }).waitFor()
    await page.getByText(/^50 kB of \d/).waitFor()
    await page.getByRole('button', { name: 'Stop', exact: true }).click()
    await page.getByText('The download was stopped. The part already downloaded is kept.').waitFor()
    origin.hold(false)
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('Ready', { exact: true }).waitFor({ timeout: 60_000 })
    await page.getByText('tiny', { exact: true }).waitFor()
    expectClean(opened)
    origin.close()
  }, 120_000)

  test('an endpoint is put to use and asked something', async () => {
    const stub = await startStubModel()
    stub.script(() => ({ answer: 'It finds a truck for every load.' }))
    const opened = await openSettings('models')
    const { page } = opened
    await page.getByText(/^This machine has/).waitFor()
    const form = page.locator('form').filter({ has: page.locator('[name=api_key]') })
    await form.getByLabel('Address').fill(stub.url)
    await form.getByLabel('Model', { exact: true }).fill('stub')
    await form.getByRole('button', { name: 'Use it' }).click()
    await page.getByText('stub', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Ask', exact: true }).click()
    await page.getByText('It finds a truck for every load.').waitFor()
    expectClean(opened)
    await stub.close()
  })

  test('a prompt is edited, compared and restored; a variable nobody offers is refused', async () => {
    const opened = await openSettings('agents?agent=sales')
    const { page } = opened
    const field = page.getByRole('textbox', { name: 'Prompt' })
    const ours = await field.inputValue()
    await field.fill(`${ours}\nAlways {{shout}}.`)
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Unknown placeholder: {{shout}}').waitFor()
    await field.fill(`${ours}\nName the town.`)
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('button', { name: 'Changes from default' }).click()
    await page.getByText('Name the town.').waitFor()
    // An upgrade: the default that this edit began with had one line more.
    const older = ours.replace('\n', '\nA line of the release before.\n')
    const shipped = join(hub.paths.prompts_dir, '.shipped.json')
    await writeFile(shipped, JSON.stringify({ sales: older }))
    await page.reload()
    const change = page.getByRole('region', { name: 'new default' })
    await change.getByText('A line of the release before.').waitFor()
    await change.getByRole('button', { name: 'Keep mine' }).click()
    await change.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByRole('button', { name: 'Restore default' }).click()
    await expect.poll(() => field.inputValue(), SLOW).toBe(ours)
    expectClean(opened)
  })

  test('a connection test names the permission that listmonk lacks', async () => {
    const listmonk = await startListmonk({ permissions: ['lists:manage_all'] })
    const opened = await openSettings('mail')
    const { page } = opened
    const form = page.locator('form').filter({ has: page.locator('[name=token]') })
    await form.locator('[name=url]').fill(listmonk.url)
    await form.locator('[name=user]').fill(listmonk.user)
    await form.locator('[name=token]').fill(listmonk.token)
    await form.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('Set up', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Test the connections' }).click()
    await page.getByText('subscribers:manage', { exact: true }).waitFor()
    expect(await page.getByText(listmonk.token).count()).toBe(0)
    expectClean(opened)
    await listmonk.close()
  })

  test('addresses are put on the suppression list', async () => {
    const opened = await openSettings('suppression')
    const { page } = opened
    await page.getByLabel('Add addresses').fill('name;mail\nA;a@never.example\nB;b@never.example')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('2 added, 0 already on the list').waitFor()
    await page.getByLabel('Is this address on it?').fill('A@never.example')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('A@never.example is on the list').waitFor()
    expectClean(opened)
  })

  test('backups leave this machine encrypted only; the secret of their target is not shown', async () => {
    const opened = await openSettings('backup')
    const { page } = opened
    const save = () => page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByLabel('Copy to').selectOption('rsync')
    const port = page.getByLabel('SSH port')
    for (const [destination, isSsh] of [
      ['/mnt/backup', false],
      ['nas.example::hub', false],
      ['rsync://nas.example/hub', false],
      ['backup@[2001:db8::1]:hub', true],
      ['backup@server.example:hub', true],
    ] as const) {
      await page.getByLabel('Destination').fill(destination)
      await eventually(() => port.isVisible()).toBe(isSsh)
    }
    await save()
    const encryption = page.getByLabel('Encryption')
    await page.locator('[name=encryption][aria-invalid=true]').waitFor()
    const refused = page.getByText('Backups leave this machine only encrypted.')
    await refused.waitFor()
    await encryption.selectOption('recipient')
    await page.getByLabel('Recipient').fill(RECIPIENT)
    const bin = join(hub.paths.data_dir, 'ssh-bin')
    await mkdir(bin)
    const path = process.env.PATH
    process.env.PATH = `${bin}:${path}`
    try {
      for (const [name, script] of Object.entries(SSH_PROGRAMS)) {
        await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
      }
      await page.getByLabel('SSH port').fill('23')
      await page.getByRole('button', { name: 'Read the key of the server' }).click()
      await page.getByText('SHA256:92I9zjMZmUgJQhog0EmhLsYsM0qjvO0FSJ2CPhWseKQ').waitFor()
    } finally {
      process.env.PATH = path
    }
    await save()
    await page.getByText('Saved', { exact: true }).waitFor()
    await page.reload()
    expect(await page.getByLabel('SSH port').inputValue()).toBe('23')
    expect(await page.getByLabel('Key of the server').inputValue()).toBe(HOST_KEY)
    expect(await page.getByLabel('Key of this hub').inputValue()).toBe('ssh-ed25519 AAAAown hub')
    await page.getByLabel('Copy to').selectOption('s3')
    await page.getByLabel('Address').fill('http://127.0.0.1:9')
    await page.getByLabel('Bucket').fill('backups')
    await page.getByLabel('Access key').fill('AKID')
    await page.getByLabel('Secret key').fill('hidden away')
    await save()
    await page.getByText('Saved', { exact: true }).waitFor()
    expect(await refused.count()).toBe(0)
    await page.reload()
    await page.getByText('One is stored. Leave this empty to keep it.').waitFor()
    expect(await page.getByLabel('Bucket').inputValue()).toBe('backups')
    expect(await page.getByLabel('Recipient').inputValue()).toBe(RECIPIENT)
    expect(await page.getByLabel('Secret key').inputValue()).toBe('')
    expect(await page.content()).not.toContain('hidden away')

    // Nothing listens there.
    await page.getByRole('button', { name: 'Back up now' }).click()
    await page.getByText('The backup was made, but 127.0.0.1:9 did not answer.').waitFor(SLOW)
    expectClean(opened)
  })

  test('a brand is seen in the sidebar and at the sign-in, in its colour', async () => {
    await licenseHub(hub)
    const opened = await openSettings('branding')
    const { page } = opened
    await page.getByLabel('Name', { exact: true }).fill('Veri Satış')
    await page.locator('input[maxlength="7"]').first().fill('#7a1fa2')
    await page.getByRole('button', { name: 'Save changes' }).click()
    const button = page.getByRole('button', { name: 'Save changes' })
    await page.locator('aside').getByText('Veri Satış').waitFor()
    await expect.poll(() => colourOf(button), SLOW).toBe('rgb(122, 31, 162)')

    const stranger = await open(browser, hub.origin)
    await stranger.page.goto('/hub/login')
    await stranger.page.getByText('Veri Satış').first().waitFor()
    const signInButton = stranger.page.getByRole('button', { name: 'Sign in' })
    expect(await colourOf(signInButton)).toBe('rgb(122, 31, 162)')
    expect(await stranger.page.title()).toContain('Veri Satış')

    // Our name in their colour.
    await page.getByLabel('Name', { exact: true }).fill('Watchpost Hub')
    await button.click()
    await page.locator('aside').getByText('Watchpost Hub').waitFor()
    expect(await colourOf(button)).toBe('rgb(122, 31, 162)')
    expectClean(opened)
    expectClean(stranger)
  })

  test('the password changes only with the current one', async () => {
    const opened = await openSettings('account')
    const { page } = opened
    await page.getByRole('textbox', { name: 'Current password' }).fill('wrong wrong')
    await page.getByRole('textbox', { name: 'New password', exact: true }).fill(PASSWORD)
    await page.getByRole('textbox', { name: 'Repeat new password' }).fill('something else')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('The passwords do not match.').waitFor()
    await page.getByRole('textbox', { name: 'Repeat new password' }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('The password is wrong.').waitFor()
    expectClean(opened)
  })

  test('every problem is reported in Turkish', async () => {
    await licenseHub(hub, new Date(Date.now() - 20 * 86_400_000))
    const url = 'http://127.0.0.1:9'
    await hub.call('PUT', 'settings/models', { kind: 'endpoint', url, model: 'veri' })
    const target = { kind: 's3', endpoint: url, bucket: 'veri', access_key_id: 'x' }
    const encryption = { kind: 'recipient', recipient: RECIPIENT }
    const backup = { encryption, target: { ...target, secret_access_key: 'x' } }
    await hub.call('PUT', 'settings/system', { backup })
    await hub.call('POST', 'backup/run')
    const job = async () => (await (await hub.call('GET', 'backups')).json()).job
    await expect.poll(async () => (await job()).status, SLOW).toBe('failed')
    const { config, deps } = hub
    const { db, model } = deps
    const health = createHealth({ config, db, model, log: () => {}, is_writable: false })
    for (let times = 0; times < 3; times += 1) await health.check()

    const opened = await openSettings('models', { language: 'tr' })
    const { page } = opened
    const vocabulary = await readVocabulary('tr')
    // Names, addresses and examples of them, and one date.
    const data =
      /^(Veri .*|veri|Test|Watchpost Hub|English|Türkçe|Qwen.*|qwen3:4b|(Diğer işlemler: )?watchpost-hub-[\w.-]+|age1\S+|https?:\S+|model\.gguf|hub\.demir\.local|[\d.,]+ k?\p{Lu}+|\d+ \p{L}+ \d{4} \d\d:\d\d UTC)$/u
    const foreign: Record<string, string[]> = {}
    for (const [section, sentence] of [
      ['models', /^Uç noktaya ulaşılamıyor \(ECONNREFUSED\)\. Ayarlar > Modeller/],
      ['license', /^Lisansın süresi \d+ \p{L}+ \d{4} tarihinde doldu\. Free sınırları geçerli/u],
      ['backup', /^Yedek alındı, ama 127\.0\.0\.1:9 yanıt vermedi\./],
      ['system', /^Son yedekleme başarısız oldu\. Yedek alındı, ama 127\.0\.0\.1:9 yanıt/],
    ] as const) {
      await walkTo(page, `/hub/settings/${section}`)
      await page.getByText(sentence).first().waitFor()
      await settled(page)
      const found = strangers(await wordsOn(page), vocabulary, data)
      if (found.length > 0) foreign[section] = found
    }
    expect(foreign).toEqual({})
    expectClean(opened)
  }, 120_000)
})
