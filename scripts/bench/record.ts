import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Figure, inWords, isGood } from './figure.ts'

const DOCS = resolve(import.meta.dirname, '../../docs')
const RUNS_FILE = resolve(DOCS, 'performance.json')
/** A smaller difference between two runs is noise. */
const NOISE = 0.1

export type Measured = {
  about: string
  figures: Figure[]
  left_out: { what: string; why: string }[]
}
export type Run = {
  at: string
  /** What was changed before this run; empty if it is not kept. */
  change: string
  machine: string
  /** The load of the machine when the run began. */
  load: number
  parts: Record<string, Measured>
}

/** Keeps a run in docs/performance.json and writes docs/performance.md from all runs that are kept. */
export function addRun(run: Run): void {
  const runs: Run[] = existsSync(RUNS_FILE) ? JSON.parse(readFileSync(RUNS_FILE, 'utf8')) : []
  runs.push(run)
  writeFileSync(RUNS_FILE, `${JSON.stringify(runs, null, 1)}\n`)
  writeFileSync(resolve(DOCS, 'performance.md'), renderPage(runs))
}

type Dated = Figure & { part: string; at: string; change: string }

/** The page of the runs, the oldest first: each figure before and now, and what each change did. */
export function renderPage(runs: Run[]): string {
  const figures = runs.flatMap(({ parts, at, change }) =>
    Object.entries(parts).flatMap(([part, measured]) =>
      measured.figures.map((figure): Dated => ({ ...figure, part, at, change })),
    ),
  )
  const byName = Map.groupBy(figures, ({ part, name }) => `${part}: ${name}`)
  const abouts = new Map(
    runs.flatMap(({ parts }) => Object.entries(parts).map(([part, { about }]) => [part, about])),
  )
  const last = runs.at(-1)
  return [
    INTRODUCTION,
    `The last run was on ${last?.at.slice(0, 10)}, on ${last?.machine}, at a load of ${last?.load} when it began.`,
    ...[...abouts].flatMap(([part, about]) => [
      `## ${part}: ${about}`,
      `\`\`\`sh\nnpm run bench -- ${part}\n\`\`\``,
      renderTable([...byName.values()].filter(([figure]) => figure?.part === part)),
      ...renderGrowth([...byName.values()].filter(([figure]) => figure?.part === part)),
      ...renderLeftOut(runs, part),
    ]),
    '## What each change did',
    renderChanges(byName, runs),
  ]
    .join('\n\n')
    .concat('\n')
}

const INTRODUCTION = `# Performance

<!-- npm run bench -- --record "what changed" writes this page from performance.json. -->

Each figure is shown beside its ratio to a limit, or to something else that was measured in the same run: a time by itself
says more about the machine than about Watchpost. *First* is the figure of the first run that is kept, *now* that of the
last. [scale.md](scale.md) says what the figures mean for a large installation.

\`\`\`sh
npm run bench                           # every part
npm run bench -- --record "what changed"  # keeps the figures and writes this page
\`\`\``

function renderTable(histories: Dated[][]): string {
  const rows = histories.map((history) => {
    const [first, now] = [history[0], history.at(-1)]
    if (!first || !now) return ''
    const note = now.note ? `<br>${now.note}` : ''
    const before = history.length > 1 ? `${inWords(first.value)} (${inWords(first.ratio)})` : ''
    return `| ${now.name}${note} | ${before} | ${inWords(now.value)} ${now.unit} | **${inWords(now.ratio)}** of ${now.against} | ${goalOf(now)} |`
  })
  return ['| what | first (ratio) | now | ratio | goal |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  )
}

function goalOf(figure: Figure): string {
  if (!figure.goal) return ''
  const bound = 'at_least' in figure.goal ? `≥ ${figure.goal.at_least}` : `≤ ${figure.goal.at_most}`
  return `${bound}, ${isGood(figure) ? 'met' : '**missed**'}`
}

/** A chart for each group of figures of one part that grow along the same axis. */
function renderGrowth(histories: Dated[][]): string[] {
  const grown = histories.flatMap((history) => history.at(-1) ?? []).filter(({ along }) => along)
  return [...Map.groupBy(grown, ({ along }) => along?.chart)].map(([chart, figures]) => {
    const unit = figures[0]?.unit
    return [
      '```mermaid',
      'xychart-beta',
      `  title "${chart}"`,
      `  x-axis [${figures.map(({ along }) => `"${along?.at}"`).join(', ')}]`,
      `  y-axis "${unit}" 0 --> ${Math.ceil(Math.max(...figures.map(({ value }) => value)))}`,
      `  line [${figures.map(({ value }) => Number(value.toPrecision(3))).join(', ')}]`,
      '```',
    ].join('\n')
  })
}

function renderLeftOut(runs: Run[], part: string): string[] {
  const measured = runs.findLast(({ parts }) => parts[part])?.parts[part]
  const rows = (measured?.left_out ?? []).map(({ what, why }) => `| ${what} | ${why} |`)
  return rows.length > 0 ? [['| not measured | why |', '|---|---|', ...rows].join('\n')] : []
}

/** The figures that each run has moved by more than noise since the one before; without any, a run needs words. */
function renderChanges(byName: Map<string, Dated[]>, runs: Run[]): string {
  return runs
    .flatMap(({ at, change }) => {
      const moved = [...byName.values()].flatMap((history) => {
        const index = history.findIndex((figure) => figure.at === at)
        const [before, after] = [history[index - 1], history[index]]
        if (!before || !after || Math.abs(after.ratio / before.ratio - 1) < NOISE) return []
        return `| ${after.name} | ${inWords(before.value)} → ${inWords(after.value)} ${after.unit} | ${inWords(before.ratio)} → ${inWords(after.ratio)} |`
      })
      if (!change && moved.length === 0) return []
      const table = ['| what | figure | ratio |', '|---|---|---|', ...moved].join('\n')
      return [
        `**${at.slice(0, 10)}**: ${change || 'measured again'}`,
        ...(moved.length > 0 ? [table] : []),
      ].join('\n\n')
    })
    .join('\n\n')
}
