/**
 * Decodes the payload of an AIS message (ITU-R M.1371-5, annex 8). A value that the standard calls "not
 * available" is null.
 */

type Common = { type: number; repeat: number; mmsi: string }

type Position = Common & {
  kind: 'position'
  /** Navigational status 0–15; null for types that have none. */
  status: number | null
  lat: number | null
  lon: number | null
  accuracy: boolean
  speed_knots: number | null
  course: number | null
  heading: number | null
  /** The UTC second of the position. */
  second: number | null
  raim: boolean
  /** Of a search and rescue aircraft. */
  altitude_m?: number | null
  /** Only type 19 carries it. */
  name?: string
}

/** Who a ship is: type 5, or one part of type 24. Absent fields are not in this part. */
type Static = Common & {
  kind: 'static'
  imo?: number | null
  callsign?: string
  name?: string
  ship_type?: number
  to_bow?: number
  to_stern?: number
  to_port?: number
  to_starboard?: number
  draught_m?: number | null
  destination?: string
}

type Station = Common & {
  kind: 'station'
  lat: number | null
  lon: number | null
  accuracy: boolean
  /** ISO 8601; null if any part of it is not available. */
  at: string | null
}

type Aid = Common & {
  kind: 'aid'
  aid_type: number
  name: string
  lat: number | null
  lon: number | null
  accuracy: boolean
  off_position: boolean
  virtual: boolean
}

/** A safety-related text, to one station or to all. */
type SafetyText = Common & { kind: 'text'; text: string; to: string | null }

/** A message that says nothing of where a vessel is or who it is. */
type Other = Common & { kind: 'other' }

export type AisMessage = Position | Static | Station | Aid | SafetyText | Other

/** The shortest message of a type that still has every field read here; later bits are spare or radio state. */
const MIN_BITS: Record<number, number> = {
  1: 149,
  2: 149,
  3: 149,
  4: 134,
  5: 422,
  9: 148,
  11: 134,
  12: 72,
  14: 40,
  18: 148,
  19: 306,
  21: 270,
  24: 40,
  27: 95,
}

/** Decodes a payload with `fill` bits of padding; returns why it cannot be decoded. */
export function decodeAis(payload: string, fill: number): AisMessage | { problem: string } {
  const bits = bitsOf(payload, fill)
  if ('problem' in bits) return bits
  if (bits.length < 38) {
    return { problem: `payload: ${bits.length} bits are too few for a type and an MMSI` }
  }
  const type = uint(bits, 0, 6)
  const mmsi = uint(bits, 8, 30)
  if (type < 1 || type > 27) return { problem: `type: ${type} is not a type of ITU-R M.1371` }
  if (mmsi > 999_999_999) return { problem: `mmsi: ${mmsi} has more than nine digits` }
  const least = MIN_BITS[type] ?? 38
  if (bits.length < least) {
    return { problem: `payload: type ${type} has at least ${least} bits, not ${bits.length}` }
  }
  return decode(bits, { type, repeat: uint(bits, 6, 2), mmsi: String(mmsi).padStart(9, '0') })
}

function decode(bits: Bits, common: Common): AisMessage {
  switch (common.type) {
    case 1:
    case 2:
    case 3:
      return classA(bits, common)
    case 4:
    case 11:
      return station(bits, common)
    case 5:
      return shipStatic(bits, common)
    case 9:
      return aircraft(bits, common)
    case 12:
      return { ...common, kind: 'text', text: text(bits, 72), to: mmsiAt(bits, 40) }
    case 14:
      return { ...common, kind: 'text', text: text(bits, 40), to: null }
    case 18:
      return classB(bits, common)
    case 19:
      return { ...classB(bits, common), raim: flag(bits, 305), name: text(bits, 143, 120) }
    case 21:
      return aid(bits, common)
    case 24:
      return staticPart(bits, common)
    case 27:
      return longRange(bits, common)
    default:
      return { ...common, kind: 'other' }
  }
}

function classA(bits: Bits, common: Common): Position {
  return {
    ...common,
    kind: 'position',
    status: uint(bits, 38, 4),
    ...motion(bits, { speed: 50, accuracy: 60 }),
    heading: known(uint(bits, 128, 9), 511),
    second: secondAt(bits, 137),
    raim: flag(bits, 148),
  }
}

function classB(bits: Bits, common: Common): Position {
  return {
    ...common,
    kind: 'position',
    status: null,
    ...motion(bits, { speed: 46, accuracy: 56 }),
    heading: known(uint(bits, 124, 9), 511),
    second: secondAt(bits, 133),
    raim: flag(bits, 147),
  }
}

function aircraft(bits: Bits, common: Common): Position {
  return {
    ...common,
    kind: 'position',
    status: null,
    ...motion(bits, { speed: 50, accuracy: 60 }),
    // In whole knots, because it flies.
    speed_knots: known(uint(bits, 50, 10), 1023),
    altitude_m: known(uint(bits, 38, 12), 4095),
    heading: null,
    second: secondAt(bits, 128),
    raim: flag(bits, 147),
  }
}

function longRange(bits: Bits, common: Common): Position {
  return {
    ...common,
    kind: 'position',
    status: uint(bits, 40, 4),
    lat: degrees(int(bits, 62, 17), 600, 90),
    lon: degrees(int(bits, 44, 18), 600, 180),
    accuracy: flag(bits, 38),
    speed_knots: known(uint(bits, 79, 6), 63),
    course: below(uint(bits, 85, 9), 360),
    heading: null,
    second: null,
    raim: flag(bits, 39),
  }
}

/** Speed, accuracy, place and course; the last three follow one another in every type. */
function motion(bits: Bits, { speed, accuracy }: { speed: number; accuracy: number }) {
  const course = below(uint(bits, accuracy + 56, 12), 3600)
  const tenths = known(uint(bits, speed, 10), 1023)
  return {
    ...placeAt(bits, accuracy + 1),
    accuracy: flag(bits, accuracy),
    speed_knots: tenths === null ? null : tenths / 10,
    course: course === null ? null : course / 10,
  }
}

function station(bits: Bits, common: Common): Station {
  const [year, month, day] = [uint(bits, 38, 14), uint(bits, 52, 4), uint(bits, 56, 5)]
  const [hour, minute, second] = [uint(bits, 61, 5), uint(bits, 66, 6), uint(bits, 72, 6)]
  const known = year > 0 && month > 0 && day > 0 && hour < 24 && minute < 60 && second < 60
  const at = known ? new Date(Date.UTC(year, month - 1, day, hour, minute, second)) : null
  return {
    ...common,
    kind: 'station',
    ...placeAt(bits, 79),
    accuracy: flag(bits, 78),
    // The 31st of February would become a day of March.
    at: at?.getUTCMonth() === month - 1 ? at.toISOString() : null,
  }
}

function shipStatic(bits: Bits, common: Common): Static {
  return {
    ...common,
    kind: 'static',
    imo: known(uint(bits, 40, 30), 0),
    callsign: text(bits, 70, 42),
    name: text(bits, 112, 120),
    ship_type: uint(bits, 232, 8),
    ...dimensions(bits, 240),
    draught_m: known(uint(bits, 294, 8) / 10, 0),
    destination: text(bits, 302, 120),
  }
}

function staticPart(bits: Bits, common: Common): Static | Other {
  const part = uint(bits, 38, 2)
  if (part === 0 && bits.length >= 160) {
    return { ...common, kind: 'static', name: text(bits, 40, 120) }
  }
  if (part !== 1 || bits.length < 162) return { ...common, kind: 'other' }
  // The boat of a ship gives the MMSI of that ship in place of its dimensions.
  const size = common.mmsi.startsWith('98') ? {} : dimensions(bits, 132)
  const callsign = text(bits, 90, 42)
  return { ...common, kind: 'static', ship_type: uint(bits, 40, 8), callsign, ...size }
}

function aid(bits: Bits, common: Common): Aid {
  return {
    ...common,
    kind: 'aid',
    aid_type: uint(bits, 38, 5),
    // The name may have a space where its extension goes on.
    name: (letters(bits, 43, 120) + letters(bits, 272)).trim(),
    ...placeAt(bits, 164),
    accuracy: flag(bits, 163),
    off_position: flag(bits, 259),
    virtual: flag(bits, 269),
  }
}

function dimensions(bits: Bits, at: number) {
  return {
    to_bow: uint(bits, at, 9),
    to_stern: uint(bits, at + 9, 9),
    to_port: uint(bits, at + 18, 6),
    to_starboard: uint(bits, at + 24, 6),
  }
}

function placeAt(bits: Bits, at: number) {
  return {
    lat: degrees(int(bits, at + 28, 27), 600_000, 90),
    lon: degrees(int(bits, at, 28), 600_000, 180),
  }
}

/** Null beyond the limit: 91° and 181° stand for "not available". */
function degrees(value: number, per_degree: number, limit: number): number | null {
  const found = value / per_degree
  return Math.abs(found) > limit ? null : Math.round(found * 1e6) / 1e6
}

function secondAt(bits: Bits, at: number): number | null {
  return below(uint(bits, at, 6), 60)
}

function mmsiAt(bits: Bits, at: number): string {
  return String(uint(bits, at, 30)).padStart(9, '0')
}

function known(value: number, none: number): number | null {
  return value === none ? null : value
}

function below(value: number, limit: number): number | null {
  return value < limit ? value : null
}

type Bits = { sixes: Uint8Array; length: number }

function bitsOf(payload: string, fill: number): Bits | { problem: string } {
  const sixes = new Uint8Array(payload.length)
  for (let at = 0; at < payload.length; at++) {
    const code = payload.charCodeAt(at)
    if (code < 48 || code > 119 || (code > 87 && code < 96)) {
      return { problem: `payload: character ${at + 1} is none of the 64 that encode six bits` }
    }
    sixes[at] = code < 96 ? code - 48 : code - 56
  }
  return { sixes, length: Math.max(0, payload.length * 6 - fill) }
}

/** Bits beyond the end read as 0. */
function uint({ sixes }: Bits, at: number, width: number): number {
  let value = 0
  for (let bit = at; bit < at + width; bit++) {
    const six = sixes[Math.trunc(bit / 6)] ?? 0
    value = value * 2 + ((six >> (5 - (bit % 6))) & 1)
  }
  return value
}

/** In two's complement. */
function int(bits: Bits, at: number, width: number): number {
  const value = uint(bits, at, width)
  return value >= 2 ** (width - 1) ? value - 2 ** width : value
}

function flag(bits: Bits, at: number): boolean {
  return uint(bits, at, 1) === 1
}

/** Text of six-bit characters without the spaces behind it. */
function text(bits: Bits, at: number, width?: number): string {
  return letters(bits, at, width).trimEnd()
}

/** Text of six-bit characters; @ ends it, as does the end of the message. */
function letters(bits: Bits, at: number, width = bits.length - at): string {
  let found = ''
  const end = Math.min(at + width, bits.length)
  for (let bit = at; bit + 6 <= end; bit += 6) {
    const six = uint(bits, bit, 6)
    if (six === 0) break
    found += String.fromCharCode(six < 32 ? six + 64 : six)
  }
  return found
}
