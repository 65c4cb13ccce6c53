import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'

export type Mutant = {
  line: number
  was: string
  now: string
  /** `uncovered`: no test runs it. `invalid`: it does not compile and does not count. */
  outcome: 'killed' | 'timeout' | 'survived' | 'uncovered' | 'invalid'
}

const Report = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.string(),
      mutants: z.array(
        z.object({
          mutatorName: z.string(),
          replacement: z.string().optional(),
          status: z.string(),
          location: z.object({
            start: z.object({ line: z.int(), column: z.int() }),
            end: z.object({ line: z.int(), column: z.int() }),
          }),
        }),
      ),
    }),
  ),
})
const OUTCOMES: Record<string, Mutant['outcome']> = {
  Killed: 'killed',
  Timeout: 'timeout',
  Survived: 'survived',
  NoCoverage: 'uncovered',
}

/**
 * Judges a TypeScript file by the given tests. For a file that was judged before, StrykerJS only
 * judges what has changed in it or in the tests.
 */
export async function judgeByStryker(
  root: string,
  source: string,
  tests: string[],
): Promise<Mutant[]> {
  const kept = join(root, '.data/mutants')
  mkdirSync(kept, { recursive: true })
  const folder = mkdtempSync(join(tmpdir(), 'watchpost-mutants-'))
  const report = join(folder, 'report.json')
  const options = {
    plugins: ['@stryker-mutator/vitest-runner', './scripts/proof/mutants/ignore.ts'],
    ignorers: ['documents'],
    mutate: [source],
    testRunner: 'vitest',
    vitest: {
      configFile: 'scripts/proof/mutants/mutants.vitest.ts',
      related: false,
      pool: 'forks',
    },
    coverageAnalysis: 'perTest',
    // StrykerJS would read tsconfig.json through an interface that TypeScript 7 does not have.
    tsconfigFile: 'none.json',
    ignorePatterns: ['dist', '.data', '.git', '*.png'],
    tempDirName: join(folder, 'tree'),
    incremental: true,
    incrementalFile: join(kept, `${source.replaceAll('/', '__')}.json`),
    reporters: ['progress-append-only', 'json'],
    jsonReporter: { fileName: report },
    concurrency: cpus().length,
    dryRunTimeoutMinutes: 60,
    timeoutMS: 60_000,
    allowConsoleColors: false,
  }
  const config = join(folder, 'stryker.json')
  writeFileSync(config, JSON.stringify(options))
  try {
    const stryker = join(root, 'node_modules/@stryker-mutator/core/bin/stryker.js')
    const child = spawn(process.execPath, [stryker, 'run', config], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, MUTANT_TESTS: tests.join(' ') },
    })
    await once(child, 'close')
    if (!existsSync(report)) throw new Error(`StrykerJS did not judge ${source}: see above.`)
    return mutantsIn(JSON.parse(readFileSync(report, 'utf8')), source)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function mutantsIn(report: unknown, source: string): Mutant[] {
  const file = Report.parse(report).files[source]
  if (!file) return []
  const lines = file.source.split('\n')
  return file.mutants
    .filter(({ status }) => status !== 'Ignored')
    .map(({ status, replacement = '', location: { start, end } }) => {
      const inside = lines.slice(start.line - 1, end.line)
      const last = inside.at(-1) ?? ''
      inside[inside.length - 1] = last.slice(0, end.column - 1)
      const was = inside.join('\n').slice(start.column - 1)
      return { line: start.line, was, now: replacement, outcome: OUTCOMES[status] ?? 'invalid' }
    })
}
