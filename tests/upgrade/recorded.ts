import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** What a released version left in a database, and what it answered about it. */
const Recorded = z.object({
  version: z.string(),
  /** When it was recorded (ISO 8601). */
  recorded_at: z.iso.datetime(),
  /** The migrations or upgrades that its database had. */
  schema: z.array(z.string()),
  rows: z.record(z.string(), z.array(z.record(z.string(), z.unknown()))),
  answers: z.array(z.object({ as: z.string(), path: z.string(), body: z.unknown() })),
})
export type Recorded = z.infer<typeof Recorded>

const FOLDER = join(import.meta.dirname, 'recorded')

/**
 * The recordings of a product, the oldest release first. Their times are moved forward by whole days, as if
 * they were recorded within the last day: an answer leaves out what is older than the plan's history.
 */
export function readRecorded(product: 'service' | 'hub'): Recorded[] {
  return readdirSync(FOLDER)
    .filter((name) => name.startsWith(`${product}-`))
    .sort((one, two) => one.localeCompare(two, 'en', { numeric: true }))
    .map((name) => asOfToday(readFileSync(join(FOLDER, name), 'utf8')))
}

const DAY_MS = 86_400_000

/** Reads a recording, with each time in its rows and answers moved. */
function asOfToday(text: string): Recorded {
  const recorded = Recorded.parse(JSON.parse(text))
  const shift = Math.floor((Date.now() - Date.parse(recorded.recorded_at)) / DAY_MS) * DAY_MS
  const moved = text.replace(/\d{4}-\d\d-\d\d(?=T\d\d:\d\d)/g, (day) =>
    new Date(Date.parse(day) + shift).toISOString().slice(0, 10),
  )
  return Recorded.parse(JSON.parse(moved))
}

/** Writes one row a line, so that a reader can search it. */
export function writeRecorded(product: 'service' | 'hub', recorded: Recorded): void {
  const { rows, answers, ...head } = recorded
  const lines = (all: unknown[]) => all.map((one) => `\n   ${JSON.stringify(one)}`).join(',')
  const tables = Object.entries(rows).map(([name, all]) => `\n  "${name}": [${lines(all)}]`)
  const text = `{"version": "${head.version}",
 "recorded_at": "${head.recorded_at}",
 "schema": ${JSON.stringify(head.schema)},
 "rows": {${tables.join(',')}},
 "answers": [${lines(answers)}]}
`
  writeFileSync(join(FOLDER, `${product}-${head.version}.json`), text)
}
