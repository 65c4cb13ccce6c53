import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { firesReplay, readFires } from './fires.ts'
import { quakesReplay, readQuakes } from './quakes.ts'
import type { Recording } from './recording.ts'
import type { Replay } from './replay.ts'
import { readStorms, stormsReplay } from './storms.ts'
import { vesselsReplay } from './vessels.ts'
import { readWarnings, warningsReplay } from './warnings.ts'

const textOf = (name: string) => readFile(join(import.meta.dirname, 'recorded', name), 'utf8')

/** Loads everything that the demo replays. Node only. */
export async function loadReplays(): Promise<Replay[]> {
  return [
    quakesReplay(await loadQuakes()),
    stormsReplay(readStorms(await textOf('storms.ndjson'))),
    firesReplay(readFires(await textOf('fires.ndjson'))),
    warningsReplay(readWarnings(await textOf('warnings.ndjson'))),
    vesselsReplay,
  ]
}

/** Loads the summary feed of the past week as the USGS answered it on 7 February 2018. */
export async function loadQuakes(): Promise<Recording> {
  const file = join(import.meta.dirname, 'recorded', 'quakes.json.gz')
  const json = await promisify(gunzip)(await readFile(file))
  return readQuakes(JSON.parse(json.toString()))
}
