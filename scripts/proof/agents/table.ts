import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { AGENT_NAMES } from '../../../hub/agents/names.ts'
import { LANGUAGES } from '../../../shared/words/texts.ts'
import type { Kept } from './run-task.ts'

const PAGE = resolve(import.meta.dirname, '../../../docs/hub/agents.md')
const RUNS = resolve(import.meta.dirname, '../../../docs/hub/agents.json')
export const BEGIN = '<!-- passes: written by npm run proof -- agents -->'
export const END = '<!-- end of passes -->'
const EACH = 5

/** The passes of a run with one model, without the texts. */
export type Run = {
  model: string
  at: string
  version: string
  seconds: number
  /** For `agent language`: how many passed of how many that were run. */
  passes: Record<string, { passed: number; run: number }>
}

export function runOf(about: Pick<Run, 'model' | 'at' | 'version' | 'seconds'>, kept: Kept[]): Run {
  const passes: Run['passes'] = {}
  for (const { agent, language, passed } of kept) {
    const key = `${agent} ${language}`
    const so_far = passes[key] ?? { passed: 0, run: 0 }
    passes[key] = { passed: so_far.passed + (passed ? 1 : 0), run: so_far.run + 1 }
  }
  return { ...about, passes }
}

/** The table of all runs: a row for each agent, a column for each model; what was not run says so. */
export function renderPasses(runs: Run[]): string {
  const head = ['Agent', ...runs.flatMap(({ model }) => LANGUAGES.map((one) => `${model}, ${one}`))]
  const cell = (run: Run, agent: string, language: string) => {
    const found = run.passes[`${agent} ${language}`]
    if (!found) return 'not run'
    return `${found.passed}${found.run === EACH ? '' : ` of ${found.run}`}`
  }
  const total = (run: Run, language: string) => {
    const all = Object.entries(run.passes).filter(([key]) => key.endsWith(` ${language}`))
    const sum = (of: 'passed' | 'run') => all.reduce((so_far, [, one]) => so_far + one[of], 0)
    return `${sum('passed')} of ${sum('run')}`
  }
  const rows = [
    ...AGENT_NAMES.map((agent) => [
      `\`${agent}\``,
      ...runs.flatMap((run) => LANGUAGES.map((language) => cell(run, agent, language))),
    ]),
    ['all', ...runs.flatMap((run) => LANGUAGES.map((language) => total(run, language)))],
  ]
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [
    [line(head), line(head.map((_, at) => (at === 0 ? '---' : '--:'))), ...rows.map(line)].join(
      '\n',
    ),
    runs
      .map(
        ({ model, at, version, seconds }) =>
          `- ${model}: run on ${at.slice(0, 10)} with version ${version}, in ${Math.round(seconds / 60)} minutes.`,
      )
      .join('\n'),
  ].join('\n\n')
}

/** keepRun puts a run beside those of other models, and writes the table into the page. */
export function keepRun(run: Run): void {
  const before: Run[] = existsSync(RUNS) ? JSON.parse(readFileSync(RUNS, 'utf8')) : []
  const runs = [...before.filter(({ model }) => model !== run.model), run]
  writeFileSync(RUNS, `${JSON.stringify(runs, null, 2)}\n`)
  const page = readFileSync(PAGE, 'utf8')
  writeFileSync(PAGE, withPasses(page, renderPasses(runs)))
}

export function withPasses(page: string, table: string): string {
  const [before, rest] = page.split(BEGIN)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined)
    throw new Error(`${PAGE} has no place for the table`)
  return `${before}${BEGIN}\n\n${table}\n\n${END}${after}`
}
