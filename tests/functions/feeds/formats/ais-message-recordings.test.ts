import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { AisMessage } from '../../../../functions/feeds/formats/ais-message.ts'
import { createAssembler, readLine } from '../../../../functions/feeds/formats/nmea-sentence.ts'
import { decoded } from './decoded.ts'

const SAMPLES = new URL('../../../../../shared/samples/ais-nmea/', import.meta.url)

const recording = (file: string) => readFileSync(new URL(file, SAMPLES), 'latin1')

/** The messages of a recording, in order; a line that cannot be read fails the test. */
function messagesIn(text: string): AisMessage[] {
  const assembler = createAssembler()
  const messages: AisMessage[] = []
  for (const line of text.split('\n')) {
    const sentence = readLine(line)
    if ('problem' in sentence) throw new Error(sentence.problem)
    if (sentence.kind === 'none') continue
    const { whole } = assembler.add(sentence, 0)
    if (whole) messages.push(decoded(whole))
  }
  return messages
}

/** A message in the words of gpsd, as far as both have the field. */
function asGpsd(message: AisMessage): Record<string, unknown> {
  const { type, repeat, kind } = message
  const mmsi = Number(message.mmsi)
  const flat = { type, repeat, mmsi }
  // gpsd prints the numbers that stand for "not available".
  const degrees = ({ lat, lon }: { lat: number | null; lon: number | null }) => ({
    lat: lat ?? 91,
    lon: lon ?? 181,
  })
  if (kind === 'position') {
    const { accuracy, raim, speed_knots, course, heading, second, altitude_m, name, status } =
      message
    const own = type === 27 ? {} : { heading, second }
    const { lat, lon } = degrees(message)
    return {
      ...flat,
      // gpsd prints the places of type 27 with one decimal.
      ...(type === 27
        ? { lat: Number(lat.toFixed(1)), lon: Number(lon.toFixed(1)) }
        : { lat, lon }),
      accuracy,
      raim,
      speed: speed_knots,
      course,
      ...(type === 9 ? { second, alt: altitude_m } : own),
      ...(name === undefined ? {} : { shipname: name }),
      ...(type <= 3 ? { status } : {}),
    }
  }
  if (kind === 'station')
    return { ...flat, ...degrees(message), accuracy: message.accuracy, at: message.at }
  if (kind === 'aid') {
    const { aid_type, name, accuracy, off_position, virtual } = message
    return {
      ...flat,
      ...degrees(message),
      aid_type,
      name,
      accuracy,
      off_position,
      virtual_aid: virtual,
    }
  }
  if (kind === 'text') {
    return {
      ...flat,
      text: message.text,
      ...(message.to === null ? {} : { dest_mmsi: Number(message.to) }),
    }
  }
  if (kind === 'static') {
    const { name, ship_type, draught_m, imo, kind: _, mmsi: __, ...rest } = message
    return {
      ...rest,
      mmsi,
      ...(name === undefined ? {} : { shipname: name }),
      ...(ship_type === undefined ? {} : { shiptype: ship_type }),
      ...(draught_m === undefined ? {} : { draught: draught_m ?? 0 }),
      ...(imo === undefined ? {} : { imo: imo ?? 0 }),
    }
  }
  return flat
}

test('the sentence that “AIVDM/AIVDO protocol decoding” explains is decoded as it says', () => {
  const [message] = messagesIn('!AIVDM,1,1,,B,177KQJ5000G?tO`K>RA1wUbN0TKH,0*5C\n').map(asGpsd)
  expect(message).toMatchObject({
    type: 1,
    mmsi: 477553000,
    status: 5,
    speed: 0,
    accuracy: false,
    course: 51,
    heading: 181,
    second: 15,
    raim: false,
  })
  expect(message?.lon).toBeCloseTo(-122.345833, 5)
  expect(message?.lat).toBeCloseTo(47.582833, 5)
})

const recorded = existsSync(SAMPLES) ? describe : () => undefined
recorded('recordings', () => {
  test('4,000 sentences are 3,916 messages', () => {
    expect(messagesIn(recording('nmea-sample-4000.txt'))).toHaveLength(3916)
  })

  test('gpsd decodes its 97 messages in the same way', () => {
    const text = readFileSync(new URL('gpsd-sample.aivdm.decoded.ndjson', SAMPLES), 'utf8')
    const expected = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(expected).toHaveLength(97)
    const compared = joinStatics(messagesIn(recording('gpsd-sample.aivdm')).map(asGpsd))
    expect(compared).toHaveLength(97)
    let fields = 0
    for (const [index, ours] of compared.entries()) {
      const theirs = normaliseGpsd(expected[index])
      for (const name of Object.keys(ours)) {
        expect([index + 1, name, theirs[name]]).toEqual([index + 1, name, ours[name]])
        fields++
      }
    }
    expect(fields).toBeGreaterThan(500)
  })

  /** gpsd gives both parts of type 24 as one, and none whose other part is missing. */
  function joinStatics(messages: Record<string, unknown>[]): Record<string, unknown>[] {
    const names = new Map<unknown, Record<string, unknown>>()
    return messages.flatMap((message) => {
      if (message.type !== 24) return [message]
      if ('shipname' in message) {
        names.clear()
        names.set(message.mmsi, message)
        return []
      }
      const name = names.get(message.mmsi)
      names.delete(message.mmsi)
      return name ? [{ ...name, ...message }] : []
    })
  }

  function normaliseGpsd(message: Record<string, unknown>): Record<string, unknown> {
    const { type, lat, lon, heading, timestamp, course, speed, second } = message
    const isKnown = Math.abs(Number(lat)) <= 90 && Math.abs(Number(lon)) <= 180
    const date = new Date(String(timestamp))
    return {
      ...message,
      lat: Math.abs(Number(lat)) <= 90 ? lat : 91,
      lon: isKnown ? lon : 181,
      heading: heading === 511 ? null : heading,
      course: course === 360 ? null : course,
      speed: speed === 102.3 || speed === 'nan' ? null : speed,
      second: Number(second) > 59 ? null : second,
      ...(type === 4 || type === 11
        ? { at: Number.isNaN(date.getTime()) ? null : date.toISOString() }
        : {}),
    }
  }
})
