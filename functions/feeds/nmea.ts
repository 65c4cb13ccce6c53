import { createVesselMemory, toVesselEvent } from './ais.ts'
import { type AisMessage, decodeAis, type Position, type SafetyText } from './ais-message.ts'
import { type Content, type Normalised, reject } from './feed.ts'
import { createAssembler, readLine, type Whole } from './nmea-sentence.ts'

const SOURCE = 'nmea'
/** A time of a GPS sentence holds for the sentences that follow it this long. */
const RMC_HOLDS_MS = 60_000
/** A safety text has no position: the last one of its sender counts this long. */
const PLACE_HOLDS_MS = 30 * 60_000

/**
 * Reads the lines of one receiver. It remembers parts of messages, names and positions, so one reader must
 * get all lines of a connection.
 */
export function createNmeaReader() {
  const assembler = createAssembler()
  const vessels = createVesselMemory()
  let clock: { at: number; heard: number } | null = null

  /** The events of a line, and what is rejected; nothing for a message that is no position by its type. */
  function read(
    line: string,
    { now, item = '#1', from = '' }: { now: number; item?: string; from?: string },
  ): Normalised[] {
    const sentence = readLine(line)
    if ('problem' in sentence) return [reject(item, sentence.problem)]
    if (sentence.kind === 'none') {
      if (sentence.at !== null) clock = { at: sentence.at, heard: now }
      return []
    }
    const { whole, given_up } = assembler.add(sentence, now, from)
    const results: Normalised[] = given_up.map((reason) => reject(item, reason))
    if (!whole || whole.payload === '') return results
    const message = decodeAis(whole.payload, whole.fill)
    if ('problem' in message) return [...results, reject(item, message.problem)]
    const result = normaliseMessage(message, timeOf(whole, now))
    return result ? [...results, result] : results
  }

  function timeOf({ at }: Whole, now: number): number {
    if (at !== null) return at
    return clock && now - clock.heard <= RMC_HOLDS_MS ? clock.at + now - clock.heard : now
  }

  function normaliseMessage(message: AisMessage, at: number): Normalised | null {
    const { mmsi } = message
    switch (message.kind) {
      case 'static':
        if (message.name) vessels.learn(mmsi, { name: message.name })
        return null
      case 'position':
        return normalisePosition(message, at)
      case 'text':
        return normaliseText(message, at)
      case 'station':
      case 'aid':
      case 'other':
        return null
    }
  }

  function normalisePosition(message: Position, at: number): Normalised {
    const { mmsi, status, lat, lon } = message
    const news = message.name ? { name: message.name } : {}
    const place = lat === null || lon === null ? {} : { place: { lat, lon, at } }
    const { name = null } = vessels.learn(mmsi, { ...news, ...place })
    return toVesselEvent({ source: SOURCE, mmsi, name, lat, lon, at, status })
  }

  function normaliseText({ mmsi, text }: SafetyText, at: number): Normalised {
    const { name = null, place } = vessels.of(mmsi)
    if (!place || at - place.at > PLACE_HOLDS_MS) {
      return reject(mmsi, 'lat, lon: a safety text came before any position of its sender')
    }
    const { lat, lon } = place
    return toVesselEvent({ source: SOURCE, mmsi, name, lat, lon, at, status: null, text })
  }

  /** What is still incomplete at the end of a recording. */
  function end(now: number): Normalised[] {
    return assembler.giveUp(now, true).map((reason) => reject('end', reason))
  }

  return { read, end }
}

/** Normalises a recording. Lines without a time count as received now. */
export function normaliseNmea(text: string, { now }: { now: Date }): Content {
  const reader = createNmeaReader()
  const content: Content = { events: [], rejected: [] }
  const at = now.getTime()
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    take(reader.read(line, { now: at, item: `#${index + 1}` }))
  }
  take(reader.end(at))
  return content

  function take(results: Normalised[]): void {
    for (const result of results) {
      if ('event' in result) content.events.push(result.event)
      else content.rejected.push(result.rejected)
    }
  }
}
