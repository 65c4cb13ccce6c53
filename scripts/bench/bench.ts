/**
 * `npm run bench` measures every part, each on a database of its own, prints a table and writes dist/bench.json. It
 * fails if a figure misses its goal. `npm run bench -- api matching` measures only these parts. With
 * `--record "what changed"` the figures are kept in docs/performance.json, and docs/performance.md is written from it.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { describeParts, partsIn, readArguments, runMain, UsageError } from '../start/arguments.ts'
import { benchApi } from './api.ts'
import { benchBurst } from './burst.ts'
import { benchCalm } from './calm.ts'
import { benchConsole } from './console.ts'
import { benchDeliveries } from './deliveries.ts'
import { benchEvents } from './events.ts'
import { type Figure, inWords, isGood, isMeasured } from './figure.ts'
import { type Ground, startDatabase } from './ground.ts'
import { benchHub } from './hub.ts'
import { benchMatching } from './matching.ts'
import { benchPositions } from './positions.ts'
import { addRun, type Measured, type Run } from './record.ts'
import { benchScaleOut } from './scale-out.ts'
import { benchStartup } from './startup.ts'
import { benchStorage } from './storage.ts'

const PARTS = {
  api: { about: 'requests a second', measure: benchApi },
  events: { about: 'reading the events near zones', measure: benchEvents },
  matching: { about: 'storing events and finding the zones they are in', measure: benchMatching },
  burst: { about: 'one event inside many zones', measure: benchBurst },
  calm: { about: 'what the API answers while one event is inside many zones', measure: benchCalm },
  positions: { about: 'positions of what moves', measure: benchPositions },
  storage: { about: 'what is kept, and what keeping and deleting it costs', measure: benchStorage },
  deliveries: { about: 'from the event to its receiver', measure: benchDeliveries },
  'scale-out': { about: 'several processes on one database', measure: benchScaleOut },
  hub: { about: 'what the hub adds to its language model', measure: benchHub },
  console: { about: 'how long the console holds up a browser', measure: benchConsole },
  startup: { about: 'how soon it answers, and how much it loads', measure: benchStartup },
} satisfies Record<string, { about: string; measure: (ground: Ground) => Promise<void> }>
type Part = keyof typeof PARTS

const say = (text: string) => process.stderr.write(`${text}\n`)

/** Names of figures that came to no number, for example because nothing arrived: the run fails, and keeps the others. */
const failed: string[] = []

async function measure(part: Part): Promise<Measured> {
  const { about, measure } = PARTS[part]
  say(`\n${part}: ${about} (load ${loadavg()[0]?.toFixed(1)})`)
  const figures: Figure[] = []
  const left_out: Measured['left_out'] = []
  const leaveOut = (what: string, why: string) => {
    left_out.push({ what, why })
    say(`  ${what}: left out: ${why}`)
  }
  const { stop, ...database } = await startDatabase()
  try {
    await measure({
      ...database,
      say,
      figure: (figure) => {
        if (!isMeasured(figure)) {
          failed.push(figure.name)
          return leaveOut(figure.name, `It came to ${inWords(figure.value)} ${figure.unit}.`)
        }
        figures.push(figure)
        say(`  ${line(figure)}`)
      },
      leaveOut,
    })
  } finally {
    await stop()
  }
  return { about, figures, left_out }
}

function line(figure: Figure): string {
  const { name, value, unit, ratio, against, note } = figure
  const result = `${inWords(value)} ${unit}: ${inWords(ratio)} of ${against}`
  return `${isGood(figure) ? 'ok ' : 'BAD'} ${name}\n      ${result}${note ? ` (${note})` : ''}`
}

/** A line of docs/performance.md has its date before it. */
const MAX_CHANGE = 105
const SEE_HELP = 'See npm run bench -- --help'
const HELP = `npm run bench -- [parts] [--record "what changed"]

Measures every part, or only those named, each on a database of its own:
${describeParts(PARTS)}

  --record TEXT  keeps the figures in docs/performance.json, with this line about the change, and
                 writes docs/performance.md from it; at most ${MAX_CHANGE} characters
  --help`

async function main(): Promise<void> {
  const { values, positionals } = readArguments(
    {
      allowPositionals: true,
      options: { record: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    },
    SEE_HELP,
  )
  if (values.help) return console.log(HELP)
  if ((values.record ?? '').length > MAX_CHANGE) {
    throw new UsageError(
      `--record must have at most ${MAX_CHANGE} characters: it is one line of the page.`,
    )
  }
  const parts = partsIn(PARTS, positionals, SEE_HELP)
  const run: Run = {
    at: new Date().toISOString(),
    change: values.record ?? '',
    machine: `${availableParallelism()} cores, Node ${process.versions.node}`,
    load: Number(loadavg()[0]?.toFixed(1)),
    parts: {},
  }
  for (const part of parts) run.parts[part] = await measure(part)

  mkdirSync('dist', { recursive: true })
  writeFileSync('dist/bench.json', `${JSON.stringify(run, null, 2)}\n`)
  if (values.record !== undefined) addRun(run)
  for (const { figures, left_out } of Object.values(run.parts)) {
    for (const figure of figures) console.log(line(figure))
    for (const { what, why } of left_out) console.log(`--- ${what}\n      left out: ${why}`)
  }
  const measured = Object.values(run.parts).flatMap(({ figures }) => figures)
  if (failed.length > 0 || !measured.every(isGood)) process.exitCode = 1
}

await runMain(main)
