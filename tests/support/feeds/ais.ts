/** Builds AIS messages and NMEA sentences, for what no recording holds. */

/** A field of a message: its value and its width in bits, or text of so many characters. */
export type Field = [value: number, width: number] | [text: string, characters: number]

/** A payload of the fields in order, and its padding. */
export function payloadOf(fields: Field[]): { payload: string; fill: number } {
  const bits = fields.map(bitsOf).join('')
  const fill = (6 - (bits.length % 6)) % 6
  const sixes = `${bits}${'0'.repeat(fill)}`.match(/.{6}/g) ?? []
  const payload = sixes.map((six) => {
    const value = Number.parseInt(six, 2)
    return String.fromCharCode(value < 40 ? value + 48 : value + 56)
  })
  return { payload: payload.join(''), fill }
}

function bitsOf([value, width]: Field): string {
  if (typeof value === 'string') {
    return [...value.padEnd(width, '@')].map((c) => bitsOf([c.charCodeAt(0) & 63, 6])).join('')
  }
  return (BigInt(value) & ((1n << BigInt(width)) - 1n)).toString(2).padStart(width, '0')
}

export function checksum(text: string): string {
  const sum = [...text].reduce((sum, c) => sum ^ c.charCodeAt(0), 0)
  return sum.toString(16).toUpperCase().padStart(2, '0')
}

/** A sentence with its checksum, as `!AIVDM,1,1,,A,payload,fill*hh`. */
export function sentence(
  { payload, fill }: { payload: string; fill: number },
  { parts = 1, part = 1, sequence = '', channel = 'A', talker = 'AIVDM' } = {},
): string {
  const body = `${talker},${parts},${part},${sequence},${channel},${payload},${fill}`
  return `!${body}*${checksum(body)}`
}

/** A tag block with its checksum, as `\s:station,c:1700000000*hh\`. */
export function tag(fields: string): string {
  return `\\${fields}*${checksum(fields)}\\`
}

type Report = {
  type?: number
  mmsi?: number
  status?: number
  speed?: number
  lat?: number
  lon?: number
  course?: number
  heading?: number
  second?: number
}

/** A position report of class A; speed and course in tenths. */
export function classA(report: Report = {}): { payload: string; fill: number } {
  const { type = 1, mmsi = 230_123_450, status = 0, speed = 102, lat = 60, lon = 25 } = report
  const { course = 2088, heading = 210, second = 41 } = report
  return payloadOf([
    [type, 6],
    [0, 2],
    [mmsi, 30],
    [status, 4],
    [-128, 8],
    [speed, 10],
    [1, 1],
    [Math.round(lon * 600_000), 28],
    [Math.round(lat * 600_000), 27],
    [course, 12],
    [heading, 9],
    [second, 6],
    [0, 25],
  ])
}

/** The name part of type 24. */
export function nameOf(mmsi: number, name: string): { payload: string; fill: number } {
  return payloadOf([
    [24, 6],
    [0, 2],
    [mmsi, 30],
    [0, 2],
    [name, 20],
  ])
}

/** A safety text to everybody. */
export function textOf(mmsi: number, words: string): { payload: string; fill: number } {
  return payloadOf([
    [14, 6],
    [0, 2],
    [mmsi, 30],
    [0, 2],
    [words, words.length],
  ])
}

/** The sentences of a message in two parts. */
export function halves(
  payload = classA().payload,
  options: { sequence?: string; channel?: string } = {},
): readonly [string, string] {
  const part = (number: number, text: string) =>
    sentence({ payload: text, fill: 0 }, { parts: 2, part: number, sequence: '4', ...options })
  return [part(1, payload.slice(0, 14)), part(2, payload.slice(14))]
}
