import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { VARIABLES } from '../functions/environment.ts'
import { normaliseUsgs } from '../functions/feeds/formats/usgs-feature.ts'
import { render } from '../scripts/build/openapi.ts'
import { ATTEMPT_DELAYS_SECONDS } from '../shared/backoff.ts'
import { BANDS, bandOf } from '../shared/decide/bands.ts'
import { quietWindowAt } from '../shared/decide/quiet-hours.ts'
import { CODES, codesOf } from '../shared/problem.ts'
import { ALERT_STATUSES, DELIVERY_STATUSES } from '../shared/schemas/alert.ts'
import { EVENT_TYPES } from '../shared/schemas/event.ts'
import { generateSecret, sign } from '../shared/signing.ts'
import { quake } from './support/feeds/quakes.ts'
import { type Block, blocksOf, PAGES, ROOT, textOf } from './support/pages.ts'

/** What the hub and its installer read from their environments. */
const ofTheHub = [
  'hub/install/install.sh',
  ...globSync('hub/install/script/*.sh', { cwd: ROOT }),
  'hub/config.ts',
  'hub/model/socket.ts',
].flatMap((file) =>
  [...textOf(file).matchAll(/\b(?:WATCHPOST|HUB)(?:_[A-Z]+)+\b/g)].map(([name]) => name),
)

const BLOCKS = PAGES.flatMap(blocksOf)
const named = (blocks: Block[]) =>
  blocks.map((block) => [`${block.page}:${block.line}`, block] as const)
const withoutBlocks = (text: string) => text.replaceAll(/^```[\s\S]*?^```$/gm, '')

/** The cells of a page's table under a heading, without its head. */
function tableOf(page: string, firstHead: string): string[][] {
  const rows = textOf(page).split('\n')
  const head = rows.findIndex((row) => row.startsWith(`| ${firstHead} |`))
  if (head < 0) throw new Error(`${page} has no table that begins with "${firstHead}"`)
  const body = rows.slice(head + 2)
  return body
    .slice(
      0,
      body.findIndex((row) => !row.startsWith('|')),
    )
    .map((row) =>
      row
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
}

const codes = (text = '') => [...text.matchAll(/`([^`]+)`/g)].map((found) => found[1] ?? '')

describe('the walks through the code in CONTRIBUTING.md', () => {
  const sections = textOf('CONTRIBUTING.md')
    .split(/^## /m)
    .find((section) => section.startsWith('Four walks'))
  const walks = (sections ?? '')
    .split(/^### /m)
    .slice(1)
    .map((walk) => ({
      name: walk.split('\n')[0],
      files: [...walk.matchAll(/^\d+\. \[[^\]]+\]\(([^)]+)\)/gm)].map(([, file = '']) => file),
    }))

  test('there are four, and none passes a file twice', () => {
    expect(walks.map(({ name }) => name)).toEqual(['An event', 'A request', 'A mission', 'A mail'])
    for (const { files } of walks) expect(new Set(files).size).toBe(files.length)
  })

  test('each file is imported or named by one before it', () => {
    const astray = walks.flatMap(({ files }) =>
      files.slice(1).filter((file, index) => {
        const before = files.slice(0, index + 1)
        return !before.some((from) => (file.endsWith('.sql') ? calls : imports)(from, file))
      }),
    )
    expect(astray).toEqual([])
  })

  const imports = (from: string, file: string) =>
    [...textOf(from).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].some(
      ([, path = '']) => relative(ROOT, resolve(ROOT, dirname(from), path)) === file,
    )
  /** Whether a file names a table or function that the SQL file makes. */
  const calls = (from: string, file: string) =>
    [...textOf(file).matchAll(/^create (?:table|function) ((?:watchpost|private)\.\w+)/gm)].some(
      ([, name = '']) => textOf(from).includes(name),
    )
})

describe.each(PAGES)('%s', (page) => {
  const text = textOf(page)

  test('every link of ours leads somewhere', () => {
    const links = [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)].map(
      (found) => found[1] ?? '',
    )
    const broken = links.filter((link) => {
      if (/^https:\/\//.test(link)) return false
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page : relative(ROOT, resolve(ROOT, dirname(page), path))
      if (!existsSync(join(ROOT, target))) return true
      return anchor !== undefined && !anchorsOf(textOf(target)).includes(anchor)
    })
    expect(broken).toEqual([])
  })

  test('every command exists', () => {
    const { scripts } = z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(textOf('package.json')))
    const used = [...text.matchAll(/npm (?:run ([\w:-]+)|(start|test))/g)].map(
      (found) => found[1] ?? found[2] ?? '',
    )
    expect(used.filter((name) => !(name in scripts))).toEqual([])
    const missing = used
      .flatMap((name) => [...(scripts[name] ?? '').matchAll(/\b(?:node|sh) (?:--\S+ )*(\S+)/g)])
      .filter(([, file = '']) => !existsSync(join(ROOT, file)))
    expect(missing).toEqual([])
    const verbs = [...text.matchAll(/npm run admin -- ([a-z]+ [a-z]+)/g)].map(
      (found) => found[1] ?? '',
    )
    const admin = textOf('scripts/admin.ts')
    // Its help lists every command.
    expect(verbs.filter((verb) => !admin.includes(`\n  ${verb} `))).toEqual([])
  })

  test('every file and variable it names is there', () => {
    const names = codes(withoutBlocks(text))
    const files = names
      .filter((name) => /^(sql|shared|functions|scripts|tests|docs)\/[^<*]+\.\w+$/.test(name))
      .filter((name) => !name.includes('NN_'))
    expect(files.filter((name) => !existsSync(join(ROOT, name)))).toEqual([])
    const variables = names.filter((name) => /^[A-Z]+(_[A-Z]+)+$/.test(name))
    const constants = ['KNOWN_FEEDS', 'CHANNEL_KINDS', 'SUPABASE_DB_URL']
    const upstream = ['EMMA_ID', 'MODIS_NRT', 'VIIRS_SNPP_NRT', 'OTEL_DENO']
    // What the packages of OpenTelemetry read themselves.
    const telemetry = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_RESOURCE_ATTRIBUTES']
    const known = [...VARIABLES, ...constants, ...upstream, ...telemetry, ...ofTheHub]
    expect(variables.filter((name) => !known.includes(name))).toEqual([])
  })

  test('it is plain: short lines, no pictures in the text, nothing left to do', () => {
    const long = withoutBlocks(text)
      .split('\n')
      .filter((line) => line.length > 125 && !/^[|!]/.test(line))
    expect(long).toEqual([])
    expect(text).not.toMatch(/\p{Extended_Pictographic}/u)
    expect(text).not.toMatch(/\b(TODO|TBD|FIXME|lorem)\b|[ \t]$/m)
  })
})

/** The anchors of a page as GitHub makes them. */
function anchorsOf(text: string): string[] {
  return [...withoutBlocks(text).matchAll(/^#+ (.+)$/gm)].map((found) =>
    (found[1] ?? '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('channels.md shows a message of every type that is sent', () => {
  const [, sent = ''] = textOf('sql/62_deliveries.sql').match(/check \(type in \(([^)]+)\)/) ?? []
  const types = [...sent.matchAll(/'([^']+)'/g)]
    .map(([, type = '']) => type)
    // A mail to an address that is not confirmed yet, which no other kind of channel gets.
    .filter((type) => type !== 'channel.confirmation')
    .sort()
  expect(types).toHaveLength(14)
  expect(
    tableOf('docs/channels.md', 'type')
      .map(([type]) => codes(type)[0])
      .sort(),
  ).toEqual(types)
  const shown = BLOCKS.filter(({ mark }) => mark === 'message')
  expect(shown.map(({ code }) => JSON.parse(code).type).sort()).toEqual(types)
})

describe('verifying a signature as channels.md says', () => {
  // Below node_modules, so that the snippet finds its package as a reader's would.
  const folder = mkdtempSync(join(ROOT, 'node_modules/.docs-'))
  afterAll(() => rm(folder, { recursive: true }))

  test.each(named(BLOCKS.filter(({ mark }) => mark === 'test=receive')))(
    '%s',
    async (name, { code }) => {
      const file = join(folder, `${name.replaceAll(/\W/g, '-')}.mjs`)
      await writeFile(file, code.replace("'./shared/", `'${pathToFileURL(ROOT)}/shared/`))
      const { receive } = await import(/* @vite-ignore */ pathToFileURL(file).href)
      const [secret, other] = [generateSecret(), generateSecret()]
      const body = JSON.stringify({ type: 'channel.test', data: { note: 'çğıİöşü' } })
      const at = (timestamp: Date, secrets: string[]) =>
        sign({ id: 'one', timestamp, body, secrets })
      const headers = await at(new Date(), [secret])
      expect(await receive(body, headers, secret)).toEqual(JSON.parse(body))
      expect(await receive(body, await at(new Date(), [other, secret]), secret)).toEqual(
        JSON.parse(body),
      )
      const refused = async (...given: unknown[]) =>
        expect((async () => receive(...given))()).rejects.toThrow()
      await refused(`${body} `, headers, secret)
      await refused(body, headers, other)
      await refused(body, { ...headers, 'webhook-id': 'two' }, secret)
      await refused(body, { ...headers, 'webhook-signature': 'v1,' }, secret)
      await refused(body, await at(new Date(Date.now() - 600_000), [secret]), secret)
      await refused(body, { ...headers, 'webhook-timestamp': 'soon' }, secret)
    },
  )
})

test('nginx accepts the site of self-hosting.md', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-docs-nginx-'))
  const site = blocksOf('docs/self-hosting.md').find(({ mark }) => mark === 'test=site')
  const [certificate, key] = [join(folder, 'crt'), join(folder, 'key')]
  try {
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    const files = ['-subj', '/CN=x', '-keyout', key, '-out', certificate]
    execFileSync('openssl', ['req', '-x509', ...curve, ...files], { stdio: 'ignore' })
    const server = site?.code
      .replace('/etc/ssl/watchpost.crt', certificate)
      .replace('/etc/ssl/watchpost.key', key)
    const file = join(folder, 'nginx.conf')
    await writeFile(file, `pid ${folder}/pid; events {} http { access_log off; ${server} }`)
    const { stderr } = spawnSync('nginx', ['-t', '-q', '-p', folder, '-c', file, '-e', 'stderr'], {
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
  } finally {
    await rm(folder, { recursive: true })
  }
})

describe('tables', () => {
  test('api.md lists every route, and every code with its status', () => {
    const { paths } = z
      .object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
      .parse(parseYaml(render()))
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(
        (method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
      ),
    )
    const listed = tableOf('docs/api.md', 'route').map(([route]) => codes(route)[0])
    expect(listed.sort()).toEqual(routes.sort())

    const said = tableOf('docs/api.md', 'status').flatMap(([status, cell]) =>
      codes(cell)
        .filter((code) => code in CODES)
        .map((code) => `${code} ${status}`),
    )
    const later = ['internal 500', 'unavailable 503']
    const all = codesOf('service').map((code) => `${code} ${CODES[code]}`)
    expect([...new Set(said)].sort()).toEqual(all.filter((code) => !later.includes(code)).sort())
  })

  test('statuses and event types are all there are', () => {
    const page = textOf('docs/api.md')
    expect(ALERT_STATUSES.filter((status) => !page.includes(`| \`${status}\` |`))).toEqual([])
    const deliveries = tableOf('docs/channels.md', 'delivery status').flatMap(([cell]) =>
      codes(cell),
    )
    expect(deliveries.sort()).toEqual([...DELIVERY_STATUSES].sort())
    const types = tableOf('docs/feeds.md', 'field').find(([field]) => field === '`type`')
    expect(codes(types?.[1]).sort()).toEqual([...EVENT_TYPES].sort())
  })

  test('severity.md has the magnitudes and bands of the code', () => {
    for (const [magnitude, severity] of tableOf('docs/severity.md', 'magnitude')) {
      const made = normaliseUsgs(quake({ mag: Number(magnitude) }))
      expect(made).toMatchObject({ event: { severity: Number(severity) } })
    }
    const bands = tableOf('docs/severity.md', 'severity')
    expect(bands.map(([, band]) => band)).toEqual([...BANDS])
    for (const [range = '', band] of bands) {
      for (const severity of range.split('–')) expect(bandOf(Number(severity))).toBe(band)
    }
  })

  test('quiet-hours.md has the windows of the code', () => {
    for (const [window = '', day = '', opens = '', closes = ''] of tableOf(
      'docs/quiet-hours.md',
      'window',
    )) {
      const [quiet_hours_start = '', quiet_hours_end = ''] = window.split('–')
      const hours = { quiet_hours_start, quiet_hours_end, quiet_hours_tz: 'Europe/Berlin' }
      const minute = (text: string) => new Date(text.replace('Z', ':00Z'))
      if (opens === '–') {
        const begin = Date.parse(`${day}T00:00:00Z`)
        const all = Array.from({ length: 180 }, (_, i) =>
          quietWindowAt(hours, new Date(begin + i * 60_000)),
        )
        expect(all.filter((found) => found !== null)).toEqual([])
        continue
      }
      const expected = { start: minute(opens), end: minute(closes) }
      expect(quietWindowAt(hours, expected.start), window).toEqual(expected)
      expect(quietWindowAt(hours, expected.end), window).not.toEqual(expected)
    }
  })

  test('channels.md has the waits of the retry schedules', () => {
    const unit: Record<string, number> = { s: 1, min: 60, h: 3600 }
    const seconds = (wait = '') => {
      const [number, name = ''] = wait.split(' ')
      return Number(number) * (unit[name] ?? Number.NaN)
    }
    const rows = tableOf('docs/channels.md', 'attempt')
    const { webhook, message, urgent } = ATTEMPT_DELAYS_SECONDS
    expect(rows.map(([, wait]) => seconds(wait))).toEqual([...webhook])
    expect(rows.slice(0, urgent.length).map(([, , wait]) => seconds(wait))).toEqual([...urgent])
    expect(rows.slice(0, message.length).map(([, , , wait]) => seconds(wait))).toEqual([...message])
    const hours = webhook.reduce<number>((sum, wait) => sum + wait, 0) / 3600
    expect(textOf('docs/channels.md')).toContain(`eight attempts over ${hours.toFixed(1)} hours`)
  })

  test('architecture.md keeps things as long as the database does', () => {
    const kept = [...textOf('sql/90_retention.sql').matchAll(/^ {2}\('(\w+)', '([^']+)'\)/gm)]
    expect(tableOf('docs/architecture.md', 'kept')).toEqual(
      kept.map(([, thing, time]) => [thing, time]),
    )
  })

  test('every variable stands in .env.example and in self-hosting.md, and no other', () => {
    const example = [...textOf('.env.example').matchAll(/^#([A-Z_]+)=/gm)].map((found) => found[1])
    expect(example.sort()).toEqual([...VARIABLES].sort())
    const listed = tableOf('docs/self-hosting.md', 'variable').flatMap(([cell]) => codes(cell))
    expect(listed.sort()).toEqual([...VARIABLES].sort())
  })

  test('every flag of the start is listed, and no other', () => {
    const flags = [...textOf('scripts/start.ts').matchAll(/^ {2}--([a-z-]+)/gm)].map(
      (found) => found[1],
    )
    const listed = tableOf('docs/self-hosting.md', 'flag').map(
      ([cell]) => codes(cell)[0]?.match(/[a-z-]+/)?.[0],
    )
    expect(listed.map((flag) => flag?.replace(/^--/, '')).sort()).toEqual(flags.sort())
  })
})
