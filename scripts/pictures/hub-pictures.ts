/**
 * `npm run hub:pictures`: starts the hub with made-up data and saves a picture of each page in
 * docs/hub/pictures.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { type Browser, chromium, type Page } from 'playwright-core'
import sharp from 'sharp'
import { z } from 'zod'
import { pathsIn } from '../../hub/config.ts'
import { keyFiles, urlFor } from '../../hub/db/keys.ts'
import { startStubModel } from '../../tests/hub/support/stub-model.ts'
import { fastTempFolder } from '../postgres/throwaway.ts'
import { runMain } from '../start/arguments.ts'
import { type Call, fillProject, sampleLeads, TWICE } from './hub-sample.ts'
import { fillPages, type MorePages } from './hub-sample-pages.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const OUT = join(ROOT, 'docs/hub/pictures')
const PASSWORD = 'correct horse battery'
const DESKTOP = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }
const COLOURS = 128

type Look = { theme?: 'light' | 'dark'; language?: 'en' | 'tr'; viewport?: typeof DESKTOP }
/** The name of the picture, the path below /hub, the look, and what is done before. */
type Shot = [name: string, path: string, look?: Look, before?: (page: Page) => Promise<unknown>]

const PROJECT = '/p/demir'
const TURKISH = { theme: 'dark', language: 'tr', viewport: PHONE } as const
const DARK = { theme: 'dark' } as const

type Made = { lead: string; draft: string; mission: string } & MorePages

const shotsOf = ({ lead, draft, mission, sequence, draftSequence }: Made): Shot[] => [
  ['today', `${PROJECT}/today`],
  ['leads', `${PROJECT}/leads`, DARK],
  ['lead', `${PROJECT}/leads?lead=${lead}`],
  ['import', `${PROJECT}/leads?do=import`, {}, chooseFile],
  ['imports', `${PROJECT}/leads/imports`],
  ['duplicates', `${PROJECT}/leads/duplicates`],
  ['merge', `${PROJECT}/leads/duplicates`, {}, compareTwo],
  ['sales', `${PROJECT}/sales`],
  ['draft', `${PROJECT}/drafts?draft=${draft}`],
  ['evidence', `${PROJECT}/drafts?draft=${draft}&view=text`, DARK],
  ['queue', `${PROJECT}/queue`],
  ['inbox', `${PROJECT}/inbox`, {}, openFirst],
  ['sequence', `${PROJECT}/sequences?sequence=${sequence}`],
  ['timetable', `${PROJECT}/sequences?sequence=${draftSequence}&view=timetable`, DARK],
  ['mission', `${PROJECT}/missions?mission=${mission}`],
  ['compose', `${PROJECT}/missions?do=compose`, {}, composeTask],
  ['numbers', `${PROJECT}/numbers`],
  ['project', `${PROJECT}/project`],
  ['fields', `${PROJECT}/project`, {}, showFields],
  ['brand', `${PROJECT}/project/brand`],
  ['documents', `${PROJECT}/documents`, {}, openDocument],
  ['search', `${PROJECT}/today`, DARK, searchFor],
  ['models', '/settings/models'],
  ['agents', '/settings/agents?agent=sales'],
  ['service-key', '/settings/service-key'],
  ['mail', '/settings/mail'],
  ['suppression', '/settings/suppression'],
  ['members', '/settings/members'],
  ['audit', '/settings/audit'],
  ['keys', '/settings/keys'],
  ['webhooks', '/settings/webhooks'],
  ['people', '/settings/people', {}, findPerson],
  ['license', '/settings/license'],
  ['branding', '/settings/branding'],
  ['backup', '/settings/backup'],
  ['system', '/settings/system', DARK, nameInstalledFolder],
  ['account', '/settings/account'],
  ['phone', `${PROJECT}/today`, TURKISH],
  ['phone-draft', `${PROJECT}/drafts?draft=${draft}`, TURKISH],
  ['phone-leads', `${PROJECT}/leads`, TURKISH],
]

async function main(): Promise<void> {
  const folder = await mkdtemp(join(await fastTempFolder(), 'watchpost-pictures-'))
  // As root, the database server runs as another user, who must be able to enter.
  await chmod(folder, 0o711)
  const paths = pathsIn(folder)
  await mkdir(paths.config_dir, { recursive: true })
  await writeFile(
    join(paths.config_dir, 'hub.json'),
    JSON.stringify({ public_url: 'https://hub.demir.example' }),
  )
  const child = spawn(process.execPath, ['scripts/hub.ts', '--port', '0', '--data-dir', folder], {
    cwd: ROOT,
    env: { ...process.env, LOG: 'json' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  const ended = closed.then(() => {
    throw new Error('The hub ended before its pictures were taken; see above.')
  })
  ended.catch(() => {})
  const model = await startStubModel()
  const executablePath = process.env.CHROMIUM || '/usr/bin/chromium'
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  try {
    const said: string[] = []
    const lines = createInterface({ input: child.stdout }).on('line', (line) => said.push(line))
    const listening = () => {
      const failed = said.find((line) => line.includes('The hub exited with'))
      if (failed) throw new Error(failed)
      return said.filter((line) => line.includes('"listening"')).length
    }
    while (listening() < 1) await Promise.race([once(lines, 'line'), ended])
    const told = said.join('\n')
    const base = `${new URL(/Open\s+(\S+)/.exec(told)?.[1] ?? '').origin}`
    const code = /Set-up code\s+(\S+)/.exec(told)?.[1] ?? ''

    await shoot(browser, base, [['welcome', '/welcome']])
    const cookie = await setUp(base, code)
    const key = (await readFile(keyFiles(paths).service, 'utf8')).trim()
    await send(base, cookie, 'POST', 'settings/service_key', { key })
    while (listening() < 2) await Promise.race([once(lines, 'line'), ended])

    const call: Call = (method, path, body) => send(base, cookie, method, path, body)
    await shoot(browser, base, [['welcome-model', '/welcome/model']], cookie)
    await call('POST', 'projects/create', {
      slug: 'demir',
      name: 'Demir Lojistik',
      website: 'https://demir.example',
      industry: 'Cold chain logistics',
      description:
        'Reefer transport between the Marmara region and the Balkans, booked the evening before.',
      icp: 'Haulage companies in Thrace and Greece with 20 to 200 reefer trucks and empty ways back.',
      value_proposition: 'A full way back: pharma loads from Thessaloniki, found overnight.',
      tone: 'Short, concrete, without superlatives.',
    })
    await importLeads(base, cookie)
    await call('POST', 'lead/quick_add', { slug: 'demir', data: TWICE })
    const { database } = JSON.parse(await readFile(join(paths.config_dir, 'hub.json'), 'utf8'))
    const filled = await fillProject(call, urlFor(key, database))
    const more = await fillPages(call, urlFor(key, database))
    await call('POST', 'backup/run', {})
    await shoot(browser, base, [['models', '/settings/models']], cookie)
    await call('PUT', 'settings/models', { kind: 'endpoint', url: model.url, model: 'sample' })
    model.script(() => ({
      title: 'Leads by stage',
      sql: 'select stage, count(*) as leads from leads group by 1 order by 2 desc',
      chart: 'bar',
    }))
    const mission = await runMission(call)
    const shots = shotsOf({ ...filled, ...more, mission }).filter(([name]) => name !== 'models')
    await shoot(browser, base, shots, cookie)
    await shoot(browser, base, [
      ['sign-in', '/login'],
      ['join', `/join${more.invitation}`],
    ])
  } finally {
    await browser.close()
    await model.close()
    child.kill('SIGTERM')
    await closed
    await rm(folder, { recursive: true, force: true })
  }
}

async function setUp(base: string, code: string): Promise<string> {
  const answer = await fetch(`${base}/api/cockpit/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code, password: PASSWORD }),
  })
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? ''
}

async function send(base: string, cookie: string, method: string, path: string, body?: unknown) {
  const answer = await fetch(`${base}/api/cockpit/${path}`, {
    method,
    headers: { cookie, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return text ? JSON.parse(text) : {}
}

async function importLeads(base: string, cookie: string): Promise<void> {
  const form = new FormData()
  form.append('file', new File([sampleLeads(64)], 'fair-2026.csv', { type: 'text/csv' }))
  form.append('project', 'demir')
  const answer = await fetch(`${base}/api/cockpit/leads/import`, {
    method: 'POST',
    headers: { cookie },
    body: form,
  })
  const started = await answer.json()
  if (!answer.ok) throw new Error(`leads/import: ${JSON.stringify(started)}`)
  for (;;) {
    const { import: now } = await send(base, cookie, 'GET', `leads/imports/${started.import.id}`)
    if (now.status === 'done') return
    if (now.status === 'failed') throw new Error(`leads/import: ${now.reason}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

const Asked = z.object({
  mission: z.object({ id: z.string(), status: z.string(), reason: z.string().nullable() }),
})

async function runMission(call: Call): Promise<string> {
  const ask = async (task: string) =>
    Asked.parse(await call('POST', 'mission/compose', { project: 'demir', task })).mission.id
  await ask('How many leads came from the fair?')
  const id = await ask('How many leads are there in each stage? Draw a chart')
  for (;;) {
    const { status, reason } = Asked.parse(await call('GET', `missions/${id}`)).mission
    if (status === 'done') return id
    if (status === 'failed') throw new Error(`the mission failed: ${reason}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

async function chooseFile(page: Page): Promise<void> {
  await page.locator('input[type=file]').setInputFiles({
    name: 'fair-2026.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(sampleLeads(500)),
  })
  await page.getByLabel('Field: E-mail').waitFor()
}

async function openFirst(page: Page): Promise<void> {
  await page.keyboard.press('j')
  await page.getByRole('textbox').last().waitFor()
}

/** Compares the two that share a name. */
async function compareTwo(page: Page): Promise<void> {
  const group = page.getByRole('listitem').filter({ hasText: 'Same name' })
  for (const box of await group.getByRole('checkbox').all()) await box.check()
  await page.getByRole('button', { name: 'Compare' }).click()
  await page.getByRole('button', { name: 'Merge' }).waitFor()
}

async function findPerson(page: Page): Promise<void> {
  await page.getByLabel('E-mail of the person').fill('elif.rossi@trakya.example')
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByText('Where elif.rossi@trakya.example is found').waitFor()
}

/** The lower part of the page: what the project says about deals, and its own fields. */
async function showFields(page: Page): Promise<void> {
  await page
    .getByRole('heading', { name: 'Deals' })
    .evaluate((heading) => heading.scrollIntoView({ block: 'start' }))
}

async function openDocument(page: Page): Promise<void> {
  await page.locator('a[href*="documents?path="]').first().click()
  await page.getByRole('button', { name: 'Delete' }).waitFor()
}

async function composeTask(page: Page): Promise<void> {
  await page
    .getByLabel('What needs to be done')
    .fill('Write a call script for the fleet managers we met at the fair')
  await page.waitForTimeout(800)
}

/** Shows the folder of an installed hub instead of this temporary one. */
async function nameInstalledFolder(page: Page): Promise<void> {
  await page.getByText('/watchpost-pictures-').waitFor()
  await page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      node.nodeValue = (node.nodeValue ?? '').replace(
        /\/\S*watchpost-pictures-\w+/,
        '/var/lib/watchpost',
      )
    }
  })
}

async function searchFor(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search everything' }).fill('trakya')
  await page.getByRole('option').first().waitFor()
}

/** The page has its title, and for a while no grey bar has stood where something will be. */
async function loaded(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
  await page.locator('h1').first().waitFor()
  for (let calm = 0; calm < 3; calm += 1) {
    await page.waitForTimeout(100)
    if ((await page.locator('.late, .animate-pulse').count()) > 0) calm = -1
  }
}

/** Takes the pictures with 128 colours each: as sharp on a screen, and a third of the size. */
async function shoot(browser: Browser, base: string, shots: Shot[], cookie = ''): Promise<void> {
  for (const [name, path, look = {}, before] of shots) {
    const { theme = 'light', language = 'en', viewport = DESKTOP } = look
    const context = await browser.newContext({
      viewport,
      colorScheme: theme,
      locale: language === 'tr' ? 'tr-TR' : 'en-GB',
      timezoneId: 'Europe/Istanbul',
      reducedMotion: 'reduce',
      hasTouch: viewport === PHONE,
    })
    const [key = '', value = ''] = cookie.split('=')
    if (cookie) await context.addCookies([{ name: key, value, url: base }])
    const page = await context.newPage()
    await page.goto(`${base}/hub${path}`)
    await loaded(page)
    await before?.(page)
    await loaded(page)
    await page.waitForTimeout(400)
    const picture = await page.screenshot()
    await sharp(picture)
      .png({ palette: true, colours: COLOURS })
      .toFile(join(OUT, `${name}.png`))
    console.log(name)
    await context.close()
  }
}

await runMain(main)
