import { z } from 'zod'
import { normaliseUsgs } from '../formats/usgs-feature.ts'
import { type Recording, replayRecording, toRecording } from './recording.ts'
import type { Replay } from './replay.ts'

const WEEK_MS = 7 * 24 * 60 * 60_000

const Recorded = z.object({
  metadata: z.object({ generated: z.number() }),
  features: z.array(z.unknown()),
})

/** Parses a recorded week of the USGS summary feed. Invalid items are left out. */
export function readQuakes(json: unknown): Recording {
  const { metadata, features } = Recorded.parse(json)
  const events = features
    .map((feature) => normaliseUsgs(feature))
    .flatMap((result) => ('event' in result ? [result.event] : []))
  return toRecording(
    { starts_at: metadata.generated - WEEK_MS, ends_at: metadata.generated },
    events.map((event) => ({ seen_at: Date.parse(event.ts), event })),
  )
}

export function quakesReplay(recording: Recording): Replay {
  return replayRecording(recording, {
    source: 'usgs-replay',
    title: 'REPLAY of a recorded USGS week',
    attribution: 'Recorded 31 January to 7 February 2018 by the U.S. Geological Survey',
    types: ['earthquake', 'volcano', 'other'],
    interval_seconds: 1,
  })
}
