import { z } from 'zod'
import { toInstant } from '../feed.ts'
import { normaliseStorm } from '../nhc.ts'
import { type Recording, readLines, replayRecording, toRecording } from './recording.ts'
import type { Replay } from './replay.ts'

/** A storm; its track says minute, class, latitude, longitude and the knots of its sustained wind. */
const Line = z.object({
  id: z.string(),
  name: z.string(),
  track: z.array(
    z.tuple([z.number(), z.enum(['TD', 'TS', 'HU']), z.number(), z.number(), z.number()]),
  ),
  /** When it became extratropical or a remnant low; with the week, if that was later. */
  ended: z.number(),
})

/** Reads recorded tracks; each position is an advisory, as the feed of the NHC would give it. */
export function readStorms(text: string): Recording {
  const { span, lines, timeOf } = readLines(text, Line)
  const states = lines.flatMap(({ id, name, track, ended }) => {
    const advisories = track.map(([minute, classification, lat, lon, knots]) => {
      const result = normaliseStorm(
        {
          id,
          name,
          classification,
          intensity: knots,
          latitudeNumeric: lat,
          longitudeNumeric: lon,
          lastUpdate: toInstant(timeOf(minute)),
        },
        id,
      )
      if ('rejected' in result) throw new Error(`${id}: ${result.rejected.reason}`)
      return { seen_at: timeOf(minute), event: result.event }
    })
    const last = advisories.at(-1)
    if (!last) return []
    const end = { ...last.event, ts: toInstant(timeOf(ended)), status: 'ended' as const }
    return [...advisories, { seen_at: timeOf(ended), event: end }]
  })
  return toRecording(span, states)
}

export function stormsReplay(recording: Recording): Replay {
  return replayRecording(recording, {
    source: 'nhc-replay',
    title: 'REPLAY of recorded tropical storms',
    attribution: 'Recorded 1 to 8 September 2008 by NOAA / National Hurricane Center',
    types: ['storm'],
    interval_seconds: 2,
  })
}
