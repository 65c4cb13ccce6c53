import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { type Recording, readRecording } from './usgs-replay.ts'

/** What the USGS answered on 7 February 2018: its summary feed of the week, unchanged. */
const FILE = join(import.meta.dirname, 'usgs-recording.json.gz')

/** loadRecording reads the recorded week; for Node's entry only. */
export async function loadRecording(): Promise<Recording> {
  const json = await promisify(gunzip)(await readFile(FILE))
  return readRecording(JSON.parse(json.toString()))
}
