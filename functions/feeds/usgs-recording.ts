import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Recording, readRecording } from './usgs-replay.ts'

/** loadRecording reads the week that the npm package vega-datasets carries; for Node's entry only. */
export async function loadRecording(): Promise<Recording> {
  // The package exports its code alone; the data lies beside it.
  const entry = createRequire(import.meta.url).resolve('vega-datasets')
  const file = join(entry, '../../data/earthquakes.json')
  return readRecording(JSON.parse(await readFile(file, 'utf8')))
}
