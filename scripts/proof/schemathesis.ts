import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { ROOT } from '../postgres/migrate.ts'
import { startTarget, type Target } from './schemathesis-target.ts'

const COMMAND = 'schemathesis'
const EXAMPLES_PER_OPERATION = 50
/**
 * All checks except one: rules between fields (a polygon and its kind, a time in the past) may
 * refuse a body that its schema allows, because JSON Schema cannot express them.
 */
const LEFT_OUT = 'positive_data_acceptance'

const Report = z.object({
  operations: z.object({ tested: z.int() }),
  test_cases: z.object({ generated: z.int(), unique_failures: z.int() }),
})

type Fuzzed = { is_good: boolean; numbers: Record<string, unknown> }

/** isSchemathesisThere: the fuzzer is a Python program and optional. */
export function isSchemathesisThere(): boolean {
  return spawnSync(COMMAND, ['--version']).status === 0
}

/** fuzzBySchemathesis runs the fuzzer against a service of its own and returns its findings. */
export async function fuzzBySchemathesis(): Promise<Fuzzed> {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-schemathesis-'))
  const target = await startTarget(folder)
  try {
    const [document, settings, report] = ['openapi.json', 'settings.toml', 'report.json'].map(
      (name) => join(folder, name),
    ) as [string, string, string] // safe: as many as there are names
    await writeFile(document, await readableDocument())
    await writeFile(settings, settingsFor(target))
    const child = spawn(
      COMMAND,
      [
        ...['--config-file', settings, 'run', document, '--url', target.url],
        ...['--max-examples', String(EXAMPLES_PER_OPERATION), '--exclude-checks', LEFT_OUT],
        ...['--continue-on-failure', '--report', 'json', '--report-json-path', report],
      ],
      { cwd: folder, stdio: 'inherit' },
    )
    const [code] = await once(child, 'close')
    const said = await readFile(report, 'utf8')
    const { operations, test_cases } = Report.parse(JSON.parse(said))
    const numbers = {
      operations: operations.tested,
      requests: test_cases.generated,
      failures: test_cases.unique_failures,
      // Too long to be exact as a JavaScript number.
      seed: said.match(/"seed":\s*(\d+)/)?.[1],
    }
    return { is_good: code === 0, numbers }
  } finally {
    await target.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The committed document with regular expressions for Python, which has no Unicode classes. */
async function readableDocument(): Promise<string> {
  const document: unknown = parse(await readFile(join(ROOT, 'docs/openapi.yaml'), 'utf8'))
  const text = JSON.stringify(document)
  return text.replaceAll(String.raw`\\p{Cc}`, String.raw`\\x00-\\x1f\\x7f-\\x9f`)
}

/**
 * Each security scheme gets its credential, and three of four requests use ids of existing objects.
 */
function settingsFor({ key, session, ids }: Target): string {
  const dictionaries = Object.entries(ids).map(
    ([name, values]) => `[dictionaries.${name}]\nvalues = ${JSON.stringify(values)}\n`,
  )
  const place = (path: string, parameters: Record<string, string>) => {
    const bound = Object.entries(parameters).map(
      ([name, dictionary]) =>
        `"path.${name}" = { dictionary = "${dictionary}", probability = 0.75 }`,
    )
    return `[[operations]]\ninclude-path-regex = "^/api/v1${path}"\nparameters = { ${bound.join(', ')} }\n`
  }
  return [
    `[auth.openapi.key]\nbearer = "${key}"\n`,
    `[auth.openapi.session]\nbearer = "${session}"\n`,
    ...dictionaries,
    place('/orgs/', { id: 'teams', userId: 'members' }),
    place('/account/orgs/', { id: 'clubs' }),
    place('/alerts/', { id: 'alerts' }),
  ].join('\n')
}
