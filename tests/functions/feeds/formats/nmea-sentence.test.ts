import { describe, expect, test } from 'vitest'
import { createAssembler, readLine } from '../../../../functions/feeds/formats/nmea-sentence.ts'
import { checksum, classA, sentence, tag } from '../../../support/feeds/ais.ts'

const LINE = sentence(classA())
const SECONDS = 1_700_000_000
const signed = (body: string) => `${body}*${checksum(body.slice(1))}`
const rmc = (time: string, day: string, name = '$GPRMC') =>
  signed(`${name},${time},A,6000,N,02500,E,0,0,${day},,`)

describe('a line', () => {
  test('may have as many as 1024 characters', () => {
    expect(readLine(LINE.padEnd(1024))).toMatchObject({ kind: 'ais' })
    expect(readLine(LINE.padEnd(1025))).toEqual({ problem: 'line: longer than 1024 characters' })
  })

  test.each(['', '   ', 'no sentence', `# ${LINE}`, ` \t# ${LINE}`])('%j says nothing', (line) => {
    expect(readLine(line)).toEqual({ kind: 'none', at: null })
  })

  test.each([`2026-03-01 #12 ${LINE}`, `${LINE}\r\n`, `  ${LINE}  `])('%j is read', (line) => {
    expect(readLine(line)).toMatchObject({
      kind: 'ais',
      parts: 1,
      part: 1,
      channel: 'A',
      station: '',
      group: null,
      at: null,
    })
  })

  test.each([
    '!AIVDM,1,1,,A,1,6',
    '!AIVDM,1,1,,A,1,0,1',
    '!AIVDM,0,1,,A,1,0',
    '!AIVDM,1,0,,A,1,0',
    '!AIVDM,1,1,12,A,1,0',
    '!AIVDM,1,1,,ABC,1,0',
    '!AIVDM,1,1,,A,1,',
  ])('with the sentence %s is refused', (body) => {
    expect(readLine(signed(body))).toEqual({
      problem: 'sentence: not of the form !AIVDM,parts,part,id,channel,payload,fill',
    })
  })

  test('is no AIS sentence where that only follows another', () => {
    expect(readLine(signed(`$GPGSV,${LINE.slice(0, LINE.indexOf('*'))}`))).toEqual({
      ...{ kind: 'none', at: null },
    })
    expect(readLine(`\\s:x*5F\\x${LINE}`)).toHaveProperty('problem')
  })

  test.each(['', 'B', '12'])('may name the channel %j', (channel) => {
    expect(readLine(sentence(classA(), { channel }))).toMatchObject({ channel })
  })
})

describe('the time', () => {
  test.each<[string, number | null]>([
    [`,${SECONDS}`, SECONDS * 1000],
    [`, ${SECONDS} ,r003`, SECONDS * 1000],
    [`,${SECONDS},${SECONDS + 1},x`, (SECONDS + 1) * 1000],
    [`,${SECONDS * 1000}`, SECONDS * 1000],
    [',r003669', null],
  ])('appended as %j is %s', (appended, at) => {
    expect(readLine(`${LINE}${appended}`)).toMatchObject({ at })
  })

  test.each<[string, number | null]>([
    [rmc('120000', '010326'), Date.UTC(2026, 2, 1, 12)],
    [rmc('120000.25', '010326'), Date.UTC(2026, 2, 1, 12)],
    [rmc('120000', '010326', '$GPRMCX'), null],
    [rmc('120000', '010326', '$GPGGA'), null],
    [rmc('1120000', '010326'), null],
    [rmc('120000x', '010326'), null],
    [rmc('120000', '0010326'), null],
    [rmc('120000', '0103261'), null],
    [rmc('', '010326'), null],
    [rmc('120000', ''), null],
    [rmc('250000', '010326'), null],
  ])('of %s is %s', (line, at) => {
    expect(readLine(line)).toEqual({ kind: 'none', at })
  })
})

describe('a tag block', () => {
  const read = (fields: string) => readLine(`${tag(fields)}${LINE}`)

  test('tells the station, the time and the group', () => {
    expect(read(`s:station,c:${SECONDS},g:1-2-1234`)).toMatchObject({
      station: 'station',
      at: SECONDS * 1000,
      group: '1234',
    })
  })

  test('tells the time wherever it stands among other fields', () => {
    expect(read(`c:${SECONDS},s:station,n:12`)).toMatchObject({ at: SECONDS * 1000 })
  })

  test.each([
    ['10-12-a1', 'a1'],
    ['x1-2-1234', null],
    ['1-2-12 34', null],
    ['1-2', null],
  ])('with the group %s names %s', (group, named) => {
    expect(read(`g:${group}`)).toMatchObject({ group: named, station: '' })
  })

  test.each([
    [`\\s:station${LINE}`, 'tag block: not closed by a backslash'],
    [`\\s:station\\${LINE}`, 'tag block: checksum missing'],
  ])('%s is refused', (line, problem) => {
    expect(readLine(line)).toEqual({ problem })
  })
})

describe('a message in parts', () => {
  const part = (number: number, fill: number, before = '') => {
    const body = `AIVDM,3,${number},7,A,${number}${number},${fill}`
    const read = readLine(`${before}!${body}*${checksum(body)}`)
    if ('problem' in read || read.kind === 'none') throw new Error('a part is a sentence')
    return read
  }

  test('has the padding of its last part, and the first time that one of them has', () => {
    const { add } = createAssembler()
    const parts = [part(1, 0), part(2, 0, tag(`c:${SECONDS}`)), part(3, 2, tag(`c:${SECONDS + 9}`))]
    const results = parts.map((each) => add(each, 0, 'x').whole)
    expect(results).toEqual([null, null, { payload: '112233', fill: 2, at: SECONDS * 1000 }])
  })
})
