/** Reads NMEA 0183 lines that carry AIS (VDM and VDO), and puts the parts of a message together. */

/** A sentence with a message or a part of one. */
export type Sentence = {
  kind: 'ais'
  parts: number
  part: number
  sequence: string
  channel: string
  payload: string
  fill: number
  /** The station that received it by its tag block, or '' if there is none. */
  station: string
  /** The group of its tag block, which joins parts of which only the first names the station. */
  group: string | null
  /** When it was received, in ms since 1970; null if the line does not say. */
  at: number | null
}

/** A line that is no AIS sentence; `at` is the time that it tells, in ms since 1970. */
type NoSentence = { kind: 'none'; at: number | null }

const MAX_LINE = 1024
const SENTENCE = /^!([A-Z]{2})VD[MO],([1-9]),([1-9]),(\d?),([^,]{0,2}),([^,*]*),([0-5])$/

/** Reads one line: tag block, sentence, checksum, and what some receivers append. Returns what is wrong with it. */
export function readLine(line: string): Sentence | NoSentence | { problem: string } {
  if (line.length > MAX_LINE) return { problem: `line: longer than ${MAX_LINE} characters` }
  // Some logs put a time of their own before the sentence.
  const start = line.search(/[\\!$]/)
  const text = start < 0 ? '' : line.slice(start).trim()
  if (text === '' || /^\s*#/.test(line)) return { kind: 'none', at: null }

  const tagged = /^\\([^\\]*)\\(.*)$/.exec(text)
  if (text.startsWith('\\') && !tagged) return { problem: 'tag block: not closed by a backslash' }
  const tag = readTag(tagged?.[1])
  if ('problem' in tag) return tag
  const sentence = tagged?.[2] ?? text

  const found = /^([!$][^*]*)\*([0-9A-Fa-f]{2})(.*)$/.exec(sentence)
  if (!found) return { problem: 'checksum: missing' }
  const [, body = '', given = '', rest = ''] = found
  const problem = checksumProblem(body.slice(1), given)
  if (problem) return { problem: `checksum: ${problem}` }
  if (!/^![A-Z]{2}VD[MO],/.test(body)) return { kind: 'none', at: timeOfRmc(body) }

  const fields = SENTENCE.exec(body)
  if (!fields)
    return { problem: 'sentence: not of the form !AIVDM,parts,part,id,channel,payload,fill' }
  const [, , parts, part, sequence = '', channel = '', payload = '', fill] = fields
  if (Number(part) > Number(parts)) return { problem: `part: ${part} of ${parts}` }
  return {
    kind: 'ais',
    parts: Number(parts),
    part: Number(part),
    sequence,
    channel,
    payload,
    fill: Number(fill),
    station: tag.station ?? '',
    group: tag.group,
    at: tag.at ?? appendedTime(rest),
  }
}

type Tag = { station: string | null; group: string | null; at: number | null }

/** A tag block: `s:station,c:time,g:part-parts-group*checksum`. */
function readTag(block: string | undefined): Tag | { problem: string } {
  const tag: Tag = { station: null, group: null, at: null }
  if (block === undefined) return tag
  const [body = '', given] = block.split('*')
  const problem = given === undefined ? 'missing' : checksumProblem(body, given)
  if (problem) return { problem: `tag block: checksum ${problem}` }
  for (const field of body.split(',')) {
    const value = field.slice(2)
    if (field.startsWith('s:')) tag.station = value
    if (field.startsWith('c:')) tag.at = timeOf(value)
    if (field.startsWith('g:')) tag.group = /^\d+-\d+-(\w+)$/.exec(value)?.[1] ?? null
  }
  return tag
}

/**
 * The time among the fields that some receivers append after the checksum. They name the station as well, but
 * only after the last part of a message, so that it cannot join the parts.
 */
function appendedTime(rest: string): number | null {
  const times = rest.split(',').map((field) => timeOf(field.trim()))
  return times.findLast((time) => time !== null) ?? null
}

/** Seconds or milliseconds since 1970. */
function timeOf(text: string): number | null {
  if (/^\d{9,10}(\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000)
  return /^\d{12,13}$/.test(text) ? Number(text) : null
}

/** The time of `$GPRMC,hhmmss,…,ddmmyy`; null for other sentences. */
function timeOfRmc(body: string): number | null {
  const fields = body.split(',')
  if (!/^\$[A-Z]{2}RMC$/.test(fields[0] ?? '')) return null
  const time = /^(\d{2})(\d{2})(\d{2})(?:\.\d+)?$/.exec(fields[1] ?? '')
  const day = /^(\d{2})(\d{2})(\d{2})$/.exec(fields[9] ?? '')
  if (!time || !day) return null
  const at = Date.parse(`20${day[3]}-${day[2]}-${day[1]}T${time[1]}:${time[2]}:${time[3]}Z`)
  return Number.isNaN(at) ? null : at
}

function checksumProblem(body: string, given: string): string | null {
  let sum = 0
  for (let at = 0; at < body.length; at++) sum ^= body.charCodeAt(at)
  const right = (sum & 0xff).toString(16).toUpperCase().padStart(2, '0')
  return right === given.toUpperCase() ? null : `${given} does not match the text, ${right} would`
}

export type Whole = Pick<Sentence, 'payload' | 'fill' | 'at'>

type Pending = { began: number; parts: (Sentence | undefined)[] }

const MAX_WAIT_MS = 30_000
const MAX_PENDING = 1_000

/**
 * Puts the parts of messages together by sequence, channel and station (or else who sent them), in any order and within 30 s. `add`
 * returns a message when it is whole; what was given up meanwhile is listed in `given_up`.
 */
export function createAssembler() {
  const pending = new Map<string, Pending>()
  const stations = new Map<string, string>()

  /** Removes what is too old; with `all` everything. */
  function giveUp(now: number, all = false): string[] {
    const given_up: string[] = []
    for (const [key, { began, parts }] of pending) {
      if (!all && now - began <= MAX_WAIT_MS && pending.size < MAX_PENDING) break
      pending.delete(key)
      given_up.push(missing(parts))
    }
    return given_up
  }

  function add(
    sentence: Sentence,
    now: number,
    from = '',
  ): { whole: Whole | null; given_up: string[] } {
    const given_up = giveUp(now)
    if (sentence.parts === 1) return { whole: sentence, given_up }
    const key = keyOf(sentence, from)
    const known = pending.get(key)
    const isOther =
      known &&
      (known.parts.length !== sentence.parts || known.parts[sentence.part - 1] !== undefined)
    if (isOther) {
      pending.delete(key)
      given_up.push(missing(known.parts))
    }
    const open = (!isOther && known) || { began: now, parts: Array(sentence.parts).fill(undefined) }
    open.parts[sentence.part - 1] = sentence
    if (open.parts.includes(undefined)) {
      pending.set(key, open)
      return { whole: null, given_up }
    }
    pending.delete(key)
    return { whole: join(open.parts.filter((part) => part !== undefined)), given_up }
  }

  function keyOf({ sequence, channel, station, group }: Sentence, sender: string): string {
    if (group !== null && station !== '') {
      if (stations.size >= MAX_PENDING) stations.clear()
      stations.set(group, station)
    }
    const source = station || (group === null ? '' : stations.get(group)) || sender
    return `${sequence}/${channel}/${source}`
  }

  return { add, giveUp }
}

function join(parts: Sentence[]): Whole {
  return {
    payload: parts.map(({ payload }) => payload).join(''),
    // Only the last part may be padded.
    fill: parts.at(-1)?.fill ?? 0,
    at: parts.map(({ at }) => at).find((at) => at !== null) ?? null,
  }
}

function missing(parts: (Sentence | undefined)[]): string {
  const lacking = parts.flatMap((part, index) => (part ? [] : [index + 1]))
  return `part: ${lacking.join(' and ')} of ${parts.length} did not come within 30 s`
}
