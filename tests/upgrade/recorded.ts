import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** What a released version left in a database, and what it answered about it. */
const Recorded = z.object({
  version: z.string(),
  /** The migrations or upgrades that its database had. */
  schema: z.array(z.string()),
  rows: z.record(z.string(), z.array(z.record(z.string(), z.unknown()))),
  answers: z.array(z.object({ as: z.string(), path: z.string(), body: z.unknown() })),
})
export type Recorded = z.infer<typeof Recorded>

const FOLDER = join(import.meta.dirname, 'recorded')

/** The recordings of a product, the oldest release first. */
export function readRecorded(product: 'service' | 'hub'): Recorded[] {
  return readdirSync(FOLDER)
    .filter((name) => name.startsWith(`${product}-`))
    .sort((one, two) => one.localeCompare(two, 'en', { numeric: true }))
    .map((name) => Recorded.parse(JSON.parse(readFileSync(join(FOLDER, name), 'utf8'))))
}

/** Writes one row a line, so that a reader can search it. */
export function writeRecorded(product: 'service' | 'hub', recorded: Recorded): void {
  const { rows, answers, ...head } = recorded
  const lines = (all: unknown[]) => all.map((one) => `\n   ${JSON.stringify(one)}`).join(',')
  const tables = Object.entries(rows).map(([name, all]) => `\n  "${name}": [${lines(all)}]`)
  const text = `{"version": "${head.version}",
 "schema": ${JSON.stringify(head.schema)},
 "rows": {${tables.join(',')}},
 "answers": [${lines(answers)}]}
`
  writeFileSync(join(FOLDER, `${product}-${head.version}.json`), text)
}
