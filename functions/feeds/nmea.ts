import { z } from 'zod'
import {
  type Connection,
  type Content,
  type Normalised,
  reject,
  type StreamedFeed,
} from './feed.ts'
import { createVessels } from './formats/ais.ts'
import { type AisMessage, decodeAis } from './formats/ais-message.ts'
import { createAssembler, readLine, type Whole } from './formats/nmea-sentence.ts'

const SOURCE = 'nmea'
/** A time of a GPS sentence holds for the sentences that follow it this long. */
const RMC_HOLDS_MS = 60_000

/** The addresses of receivers: `tcp://host:port` is connected to, at `udp://host:port` lines are awaited. */
const Sources = z.string().refine((text) => addressesIn(text).every(isAddress), {
  error: 'must be addresses like tcp://host:port or udp://host:port, separated by commas',
})

/** The lines of one's own AIS receivers. */
export const nmea: StreamedFeed = {
  source: SOURCE,
  title: 'AIS receivers (NMEA)',
  attribution: 'Vessel positions: own AIS receivers',
  types: ['vessel', 'aircraft'],
  interval_seconds: 60,
  settings: { NMEA_SOURCES: { schema: Sources, is_required: true } },
  stream: {
    connections: ({ NMEA_SOURCES = '' }): Connection[] =>
      addressesIn(NMEA_SOURCES).map((url) => ({ name: url, url })),
    createReader: () => {
      const { read } = createNmeaReader()
      return (line, { now, item, from }) => sorted(read(line, { now: now.getTime(), item, from }))
    },
    silence_seconds: 120,
  },
  normalise: normaliseNmea,
}

function addressesIn(text: string): string[] {
  return text.split(',').flatMap((address) => address.trim() || [])
}

function isAddress(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, hostname, port, pathname, username } = new URL(address)
  const is_plain = (pathname === '' || pathname === '/') && username === ''
  return /^(tcp|udp):$/.test(protocol) && hostname !== '' && Number(port) > 0 && is_plain
}

/**
 * Reads the lines of one receiver. It remembers parts of messages, names and positions, so one reader must
 * get all lines of a connection.
 */
export function createNmeaReader() {
  const assembler = createAssembler()
  const vessels = createVessels(SOURCE)
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
    switch (message.kind) {
      case 'static':
        vessels.named(message.mmsi, message.name)
        return null
      case 'position':
        return vessels.position({ ...message, at })
      case 'text':
        return vessels.text({ ...message, at })
      case 'station':
      case 'aid':
      case 'other':
        return null
    }
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
  const at = now.getTime()
  const results = text
    .split(/\r?\n/)
    .flatMap((line, index) => reader.read(line, { now: at, item: `#${index + 1}` }))
  return sorted([...results, ...reader.end(at)])
}

function sorted(results: Normalised[]): Content {
  const content: Content = { events: [], rejected: [] }
  for (const result of results) {
    if ('event' in result) content.events.push(result.event)
    else content.rejected.push(result.rejected)
  }
  return content
}
