import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createAssembler, readLine } from '../../../functions/feeds/formats/nmea-sentence.ts'
import { createNmeaReader, nmea, normaliseNmea } from '../../../functions/feeds/nmea.ts'
import { NormalisedEvent } from '../../../shared/schemas/event.ts'
import { checksum, classA, halves, nameOf, sentence, tag, textOf } from '../../support/feeds/ais.ts'

const SAMPLES = new URL('../../../../shared/samples/ais-nmea/', import.meta.url)
const NOW = new Date('2026-03-01T12:00:00Z')
const now = NOW.getTime()

const normalise = (...lines: string[]) => normaliseNmea(lines.join('\r\n'), { now: NOW })
const timesOf = (...lines: string[]) => normalise(...lines).events.map(({ ts }) => ts)

describe('a position becomes an event', () => {
  test('with the name of its vessel, once it is known', () => {
    const { events, rejected } = normalise(
      sentence(classA()),
      sentence(nameOf(230_123_450, 'AURORA')),
      sentence(classA({ lat: 60.1 }), { channel: 'B' }),
    )
    expect(rejected).toEqual([])
    expect(events).toEqual([
      {
        id: 'nmea:230123450:1772366400',
        source: 'nmea',
        type: 'vessel',
        title: '230123450',
        lat: 60,
        lon: 25,
        ts: '2026-03-01T12:00:00.000Z',
        severity: 0,
        subject: 'mmsi:230123450',
        status: 'active',
        url: null,
        geometry: null,
        ends_at: null,
        revised_at: null,
        aliases: [],
      },
      expect.objectContaining({ title: 'AURORA', lat: 60.1 }),
    ])
  })

  test.each([
    [230_123_450, 0, 0],
    [230_123_450, 2, 50],
    [230_123_450, 6, 70],
    [230_123_450, 14, 90],
    [970_123_450, 0, 90],
    [972_123_450, 14, 90],
    [974_123_450, 1, 90],
  ])('MMSI %i with status %i has severity %i', (mmsi, status, severity) => {
    expect(normalise(sentence(classA({ mmsi, status }))).events[0]?.severity).toBe(severity)
  })

  test('an aircraft of search and rescue is an aircraft', () => {
    expect(normalise(sentence(classA({ mmsi: 111_265_591 }))).events[0]).toMatchObject({
      type: 'aircraft',
      subject: 'mmsi:111265591',
    })
  })

  test.each([
    [{ mmsi: 0 }, 'mmsi: 000000000 is nobody’s'],
    [{ mmsi: 2_275_200 }, 'mmsi: 002275200 is not a vessel’s (coast station)'],
    [{ mmsi: 993_663_013 }, 'mmsi: 993663013 is not a vessel’s (aid to navigation)'],
    [{ mmsi: 970_123_450, status: 15 }, 'status: the distress transmitter is under test'],
    [{ lat: 91, lon: 181 }, 'lat, lon: the sender has no position'],
    [{ lat: 0, lon: 0 }, 'lat, lon: the sender has no position'],
  ])('%j is rejected', (report, reason) => {
    const mmsi = String('mmsi' in report ? report.mmsi : 230_123_450).padStart(9, '0')
    expect(normalise(sentence(classA(report)))).toEqual({
      events: [],
      rejected: [{ item: mmsi, reason }],
    })
  })

  test('a safety text is where its sender was last', () => {
    const content = normalise(
      sentence(textOf(230_123_450, 'TOO EARLY')),
      sentence(classA()),
      sentence(nameOf(230_123_450, 'AURORA')),
      sentence(textOf(230_123_450, 'ENGINE FAILURE')),
    )
    expect(content.rejected).toEqual([
      {
        item: '230123450',
        reason: 'lat, lon: a safety text came before any position of its sender',
      },
    ])
    expect(content.events[1]).toMatchObject({
      id: 'nmea:230123450:1772366400:text',
      title: 'AURORA: ENGINE FAILURE',
      severity: 30,
      lat: 60,
      lon: 25,
    })
  })

  test('half an hour after its last position a safety text has no place', () => {
    const reader = createNmeaReader()
    reader.read(sentence(classA()), { now })
    const textAfter = (ms: number) =>
      reader.read(sentence(textOf(230_123_450, 'HELP')), { now: now + ms })[0]
    expect(textAfter(30 * 60_000)).toHaveProperty('event')
    expect(textAfter(30 * 60_000 + 1)).toHaveProperty('rejected')
  })

  test('a distress transmitter that says it is under test raises nothing', () => {
    const position = sentence(classA({ mmsi: 972_123_450, status: 14 }))
    const { events } = normalise(
      position,
      sentence(textOf(972_123_450, 'MOB TEST')),
      sentence(textOf(972_123_450, 'MOB ACTIVE')),
    )
    expect(events.map(({ title }) => title)).toEqual(['972123450', '972123450: MOB ACTIVE'])
  })
})

describe('the time of a position', () => {
  const line = sentence(classA())
  const rmc = (body: string) => `$${body}*${checksum(body)}`

  test.each([
    ['a tag block in seconds', tag('s:r003669945,c:1700000000') + line],
    ['a tag block in ms', tag('c:1700000000000') + line],
    ['a time after the checksum', `${line},r003669945,1700000000`],
    ['both: the tag block', `${tag('c:1700000000')}${line},1600000000`],
  ])('is that of %s', (_, given) => {
    expect(timesOf(given)).toEqual(['2023-11-14T22:13:20.000Z'])
  })

  test('is that of the GPS sentence before it, else that of receipt', () => {
    const gps = rmc('GPRMC,221320.00,A,6000.00,N,02500.00,E,0.1,0.0,141123,,,A')
    expect(timesOf(line, gps, line)).toEqual([
      '2026-03-01T12:00:00.000Z',
      '2023-11-14T22:13:20.000Z',
    ])
    const reader = createNmeaReader()
    reader.read(gps, { now })
    const tsAfter = (ms: number) => {
      const [result] = reader.read(line, { now: now + ms })
      return result && 'event' in result ? result.event.ts : undefined
    }
    expect(tsAfter(60_000)).toBe('2023-11-14T22:14:20.000Z')
    expect(tsAfter(60_001)).toBe('2026-03-01T12:01:00.001Z')
  })

  test.each(['GPRMC,,V,,,,,,,,,,N', 'GPRMC,256199.00,A,,,,,,,401323', 'GPGGA,221320,6000.00,N'])(
    'is not taken from %s',
    (body) => {
      expect(timesOf(rmc(body), line)).toEqual(['2026-03-01T12:00:00.000Z'])
    },
  )
})

describe('parts of a message', () => {
  test('are put together in any order, between other sentences', () => {
    const [first, second] = halves()
    const [other] = halves(undefined, { channel: 'B' })
    expect(normalise(first, sentence(classA({ mmsi: 230_000_001 })), second).events).toHaveLength(2)
    expect(normalise(second, first).events).toHaveLength(1)
    expect(normalise(other, second, first).events).toHaveLength(1)
  })

  test('are of one sequence, channel and station', () => {
    const [first, second] = halves()
    const [, otherSequence] = halves(undefined, { sequence: '5' })
    const [, otherChannel] = halves(undefined, { channel: 'B' })
    for (const lines of [
      [first, otherSequence],
      [first, otherChannel],
      [tag('s:one') + first, tag('s:two') + second],
    ]) {
      expect(normalise(...lines)).toMatchObject({
        events: [],
        rejected: [
          { item: 'end', reason: 'part: 2 of 2 did not come within 30 s' },
          { item: 'end', reason: 'part: 1 of 2 did not come within 30 s' },
        ],
      })
    }
  })

  test('of a group share its station, and the time of its first', () => {
    const [first, second] = halves()
    expect(timesOf(tag('g:1-2-77,s:one,c:1700000000') + first, tag('g:2-2-77') + second)).toEqual([
      '2023-11-14T22:13:20.000Z',
    ])
    expect(timesOf(tag('g:1-2-77,s:one') + first, tag('g:2-2-78') + second)).toEqual([])
  })

  test('are given up after 30 s, and when their sequence begins anew', () => {
    const [first, second] = halves()
    const late = (ms: number) => {
      const reader = createNmeaReader()
      reader.read(first, { now })
      return reader.read(second, { now: now + ms })
    }
    expect(late(30_000)).toMatchObject([{ event: { source: 'nmea' } }])
    expect(late(30_001)).toEqual([
      { rejected: { item: '#1', reason: 'part: 2 of 2 did not come within 30 s' } },
    ])
    expect(normalise(first, first, second)).toMatchObject({
      events: [{ source: 'nmea' }],
      rejected: [{ item: '#2', reason: 'part: 2 of 2 did not come within 30 s' }],
    })
  })

  test('of the last thousand groups share a station; of older ones it is forgotten', () => {
    const [first, second] = halves()
    const isWholeAfter = (groups: number) => {
      const assembler = createAssembler()
      const add = (line: string) => {
        const read = readLine(line)
        if (!('kind' in read) || read.kind !== 'ais') throw new Error('unreadable')
        return assembler.add(read, now).whole
      }
      add(tag('g:1-2-0,s:one') + first)
      for (let group = 1; group <= groups; group++) {
        add(tag(`g:1-2-${group},s:two`) + first)
        expect(add(tag(`g:2-2-${group}`) + second)).not.toBeNull()
      }
      return add(tag('g:2-2-0') + second) !== null
    }
    expect(isWholeAfter(999)).toBe(true)
    expect(isWholeAfter(1_000)).toBe(false)
  })

  test('of messages in different numbers of parts are not mixed', () => {
    const [first, second] = halves()
    const other = sentence({ payload: '1', fill: 0 }, { parts: 3, part: 2, sequence: '4' })
    expect(normalise(first, other, second)).toMatchObject({
      events: [],
      rejected: [
        { item: '#2', reason: 'part: 2 of 2 did not come within 30 s' },
        { item: '#3', reason: 'part: 1 and 3 of 3 did not come within 30 s' },
        { item: 'end', reason: 'part: 1 of 2 did not come within 30 s' },
      ],
    })
  })

  test('that begin anew wait from then on, behind those that have waited longer', () => {
    const reader = createNmeaReader()
    const [first] = halves()
    const [elsewhere] = halves(undefined, { channel: 'B' })
    reader.read(first, { now })
    reader.read(elsewhere, { now: now + 10_000 })
    reader.read(first, { now: now + 20_000 })
    expect(reader.read(sentence(classA()), { now: now + 41_000 })).toMatchObject([
      { rejected: { reason: 'part: 2 of 2 did not come within 30 s' } },
      { event: { source: 'nmea' } },
    ])
  })

  test('wait in bounded number', () => {
    const assembler = createAssembler()
    let given_up = 0
    for (let station = 0; station < 5_000; station++) {
      const read = readLine(tag(`s:${station}`) + halves()[0])
      if (!('kind' in read) || read.kind !== 'ais') throw new Error('unreadable')
      given_up += assembler.add(read, now).given_up.length
    }
    expect(given_up).toBe(5_000 - 1_000)
  })
})

describe('a line that cannot be read is rejected with its number', () => {
  const good = sentence(classA())
  test.each([
    [good.replace(/\*.*/, ''), 'checksum: missing'],
    [good.replace('!AIVDM,1', '!AIVDM,2'), /^checksum: .. does not match the text, .. would$/],
    [`\\c:1700000000*00\\${good}`, /^tag block: checksum 00 does not match/],
    [`\\c:1700000000\\${good}`, 'tag block: checksum missing'],
    [`\\c:1700000000${good}`, 'tag block: not closed by a backslash'],
    [sentence({ payload: '1', fill: 9 }), /^sentence: not of the form/],
    [sentence({ payload: '1', fill: 0 }, { parts: 2, part: 3 }), 'part: 3 of 2'],
    [sentence({ payload: '1!', fill: 0 }), /^payload: character 2/],
    [`!${'A'.repeat(2_000)}`, 'line: longer than 1024 characters'],
  ])('%s', (line, reason) => {
    const { events, rejected } = normalise('', line, good)
    expect(events).toHaveLength(1)
    expect(rejected).toEqual([
      { item: '#2', reason: typeof reason === 'string' ? reason : expect.stringMatching(reason) },
    ])
  })

  test.each([
    ['the talker of a base station', sentence(classA(), { talker: 'BSVDM' }), 1],
    ['own ship', sentence(classA(), { talker: 'AIVDO' }), 1],
    ['a time before it', `2026-03-01 12:00:00 ${good}`, 1],
    ['a comment', `# ${good}`, 0],
    ['an empty payload', sentence({ payload: '', fill: 0 }), 0],
    ['words', 'hello', 0],
    ['another sentence', '$GPGGA,1*4B', 0],
  ])('%s is fine', (_, line, events) => {
    const content = normalise(line)
    expect(content.events).toHaveLength(events)
    expect(content.rejected).toEqual([])
  })

  test('whatever comes', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), fc.nat({ max: good.length }), (noise, at) => {
        const { events, rejected } = normalise(good.slice(0, at) + noise + good.slice(at), good)
        for (const event of events) NormalisedEvent.parse(event)
        for (const { reason } of rejected) expect(reason).toMatch(/^[a-z, ]+: ./)
        expect(events.length).toBeGreaterThan(0)
      }),
    )
  })
})

describe('its setting', () => {
  const schema = nmea.settings?.NMEA_SOURCES?.schema

  test('names connections, whose lines are read each by itself', () => {
    const NMEA_SOURCES = 'tcp://receiver.example:10110, udp://0.0.0.0:10110,tcp://[::1]:1'
    expect(schema?.safeParse(NMEA_SOURCES).success).toBe(true)
    expect(schema?.safeParse('tcp://receiver:1/').success).toBe(true)
    const connections = nmea.stream.connections({ NMEA_SOURCES })
    expect(connections.map(({ url }) => url)).toEqual([
      'tcp://receiver.example:10110',
      'udp://0.0.0.0:10110',
      'tcp://[::1]:1',
    ])
    const [one, other] = [nmea.stream.createReader(), nmea.stream.createReader()]
    const input = { now: NOW, item: '#1', from: '' }
    one(sentence(nameOf(230_123_450, 'AURORA')), input)
    const title = (read: typeof one) => read(sentence(classA()), input).events[0]?.title
    expect([title(one), title(other)]).toEqual(['AURORA', '230123450'])
  })

  test('parts of two senders at one connection are not mixed', () => {
    const read = nmea.stream.createReader()
    const [first, second] = halves()
    read(first, { now: NOW, item: '#1', from: 'a' })
    expect(read(second, { now: NOW, item: '#2', from: 'b' }).events).toEqual([])
    expect(read(second, { now: NOW, item: '#3', from: 'a' }).events).toHaveLength(1)
  })

  test.each([
    'receiver:1',
    'http://receiver:1',
    'tcp://receiver',
    'tcp://u@receiver:1',
    'tcp://a:1/b',
    'tcp://:1',
    'xtcp://a:1',
    'udpx://a:1',
    'tcp://a:1,http://b:1',
    'tcp://a:1,tcp://b',
  ])('is refused as %s, without repeating it', (text) => {
    expect(schema?.safeParse(text).error?.issues[0]?.message).toBe(
      'must be addresses like tcp://host:port or udp://host:port, separated by commas',
    )
  })
})

const recorded = existsSync(SAMPLES) ? describe : () => undefined
recorded('recordings', () => {
  test.each([
    ['nmea-sample-4000.txt', 3424, 83],
    ['gpsd-sample.aivdm', 14, 10],
  ])('%s gives %i events, and rejects %i items', (file, events, rejected) => {
    const recording = readFileSync(new URL(file, SAMPLES), 'latin1')
    const content = normaliseNmea(recording, { now: NOW })
    expect([content.events.length, content.rejected.length]).toEqual([events, rejected])
  })
})

test.each<[text: string, at: number | null]>([
  ['1772366400', 1_772_366_400_000],
  ['1772366400.25', 1_772_366_400_250],
  ['177236640', 177_236_640_000],
  ['1772366400123', 1_772_366_400_123],
  ['177236640012', 177_236_640_012],
  ['x1772366400', null],
  ['1772366400x', null],
  ['x1772366400123', null],
  ['1772366400123x', null],
  ['17723664', null],
  ['17723664001', null],
  ['17723664001234', null],
  ['1772366400.', null],
  ['', null],
])('the time “%s” of a tag block, or behind the checksum, is %s', (text, at) => {
  expect(readLine(`${tag(`c:${text}`)}${sentence(classA())}`)).toMatchObject({ at })
  expect(readLine(`${sentence(classA())},rX,${text}`)).toMatchObject({ at })
})
