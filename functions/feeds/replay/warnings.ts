import { z } from 'zod'
import { Geometry } from '../../../shared/schemas/event.ts'
import { toInstant } from '../feed.ts'
import { capEvent } from '../formats/cap-event.ts'
import { representativePoint } from '../formats/geometry.ts'
import { type Recording, readLines, replayRecording, toRecording } from './recording.ts'
import type { Replay } from './replay.ts'

/** A warning, with its times in minutes since the span began. */
const Line = z.object({
  id: z.string(),
  event: z.string(),
  category: z.string(),
  severity: z.string(),
  urgency: z.string(),
  certainty: z.string(),
  /** Which office warned. */
  office: z.string(),
  sent: z.number(),
  onset: z.number(),
  ends: z.number(),
  /** The warned area, or the middle of its counties. */
  geometry: Geometry,
})

/** Reads recorded warnings, each as the feed of the NWS would give it. */
export function readWarnings(text: string): Recording {
  const { span, lines, timeOf } = readLines(text, Line)
  const states = lines.map((line) => {
    const { id, event, category, severity, urgency, certainty, office, geometry } = line
    const [sent, onset, ends] = [line.sent, line.onset, line.ends].map(timeOf).map(toInstant)
    const info = {
      language: 'en-US',
      categories: [category],
      event,
      responses: [],
      urgency,
      severity,
      certainty,
      effective: null,
      onset: onset ?? null,
      expires: ends ?? null,
      headline: `${event} by ${office}`,
      sender_name: '',
      web: '',
      event_codes: [],
      parameters: [],
      areas: [],
    }
    const alert = {
      identifier: id,
      sender: '',
      sent: sent ?? '',
      status: 'Actual',
      msg_type: 'Alert',
      incidents: '',
      references: [],
      infos: [info],
    }
    const [result] = capEvent(alert, {
      source: 'nws',
      id: `nws:${id}`,
      url: null,
      place: {
        point: representativePoint(geometry),
        geometry: geometry.type === 'Point' ? null : geometry,
        problems: [],
      },
    })
    if (!result || 'rejected' in result) {
      throw new Error(`${id}: ${result?.rejected.reason ?? 'is not a warning'}`)
    }
    return { seen_at: timeOf(line.sent), event: result.event }
  })
  return toRecording(span, states)
}

export function warningsReplay(recording: Recording): Replay {
  return replayRecording(recording, {
    source: 'nws-replay',
    title: 'REPLAY of recorded weather warnings',
    attribution: 'Recorded 14 May 2026 by the U.S. National Weather Service',
    types: ['weather', 'flood'],
    interval_seconds: 2,
  })
}
