import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { type Recording, readRecording } from './usgs-replay.ts'

/** The summary feed of the past week as the USGS answered it on 7 February 2018. */
const FILE = join(import.meta.dirname, 'usgs-recording.json.gz')

/** Loads the recorded week. Node only. */
export async function loadRecording(): Promise<Recording> {
  const json = await promisify(gunzip)(await readFile(FILE))
  return readRecording(JSON.parse(json.toString()))
}
