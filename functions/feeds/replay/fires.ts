import { z } from 'zod'
import { toInstant } from '../feed.ts'
import { readDetections } from '../formats/firms-csv.ts'
import { type Fire, idsOf, toFireEvent } from '../memory/fires.ts'
import { type Recording, readLines, replayRecording, toRecording } from './recording.ts'
import type { Replay } from './replay.ts'

/** A fire by its detections, oldest first: minute, latitude, longitude, megawatts, confidence, satellite. */
const Line = z
  .array(z.tuple([z.number(), z.number(), z.number(), z.number(), z.number(), z.enum(['A', 'T'])]))
  .min(1)

const HEADER = 'latitude,longitude,acq_date,acq_time,satellite,confidence,frp'

/** Reads recorded fires. Each pass of a satellite that saw a fire again is a revision of it. */
export function readFires(text: string): Recording {
  const { span, lines, timeOf } = readLines(text, Line)
  const fires = lines.map((line): Fire => {
    const rows = line.map(([minute, lat, lon, frp, confidence, satellite]) => {
      const [date = '', time = ''] = toInstant(timeOf(minute)).split('T')
      const clock = time.slice(0, 5).replace(':', '')
      return [lat, lon, date, clock, satellite, confidence, frp].join()
    })
    const { detections, rejected } = readDetections([HEADER, ...rows].join('\n'))
    const [first, ...rest] = detections
    if (!first || rejected[0]) throw new Error(rejected[0]?.reason ?? 'a fire has no detection')
    return [first, ...rest]
  })
  const ids = idsOf(fires, {})
  const states = fires.flatMap((fire, index) => {
    const passes = [...new Set(fire.map(({ at }) => at))]
    return passes.map((pass) => {
      const [first, ...rest] = fire
      const seen: Fire = [first, ...rest.filter(({ at }) => at <= pass)]
      return { seen_at: pass, event: toFireEvent(seen, ids[index] ?? '') }
    })
  })
  return toRecording(span, states)
}

export function firesReplay(recording: Recording): Replay {
  return replayRecording(recording, {
    source: 'firms-replay',
    title: 'REPLAY of recorded fires',
    attribution: 'Recorded 2 and 3 October 2020 by NASA FIRMS (https://earthdata.nasa.gov/firms)',
    types: ['wildfire'],
    ceilings: { wildfire: 70 },
    interval_seconds: 2,
  })
}
