import { crc32, deflateRawSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { gdelt } from '../../../functions/feeds/gdelt.ts'
import type { NormalisedEvent } from '../../../shared/schemas/event.ts'
import {
  describeRecordings,
  expectAgreed,
  expectHarmless,
  normalise,
  type Reply,
  recording,
  upstream,
} from '../../support/feeds/feeds.ts'

type Cells = Partial<
  Record<'id' | 'day' | 'root' | 'code' | 'quad' | 'goldstein' | 'mentions', string>
>
type More = Partial<Record<'geo' | 'place' | 'lat' | 'lon' | 'added' | 'url', string>>

/** A row of version 2 (61 cells) or of version 1 (58 cells). */
function row(over: Cells & More = {}, version: 1 | 2 = 2): string {
  const one = {
    ...{ id: '1000', day: '20260301', root: '1', code: '14', quad: '3', goldstein: '-6.5' },
    ...{ mentions: '2', geo: '4', place: 'Port Moresby, Papua New Guinea' },
    ...{ lat: '-9.46472', lon: '147.193', added: '20260301114500' },
    ...{ url: 'https://news.example.org/a' },
    ...over,
  }
  const cells = Array<string>(version === 2 ? 61 : 58).fill('')
  const shift = version === 2 ? 2 : 0
  for (const [at, value] of [
    [0, one.id],
    [1, one.day],
    [25, one.root],
    [28, one.code],
    [29, one.quad],
    [30, one.goldstein],
    [31, one.mentions],
    [49 + shift, one.geo],
    [50 + shift, one.place],
    [53 + shift + (version - 1), one.lat],
    [54 + shift + (version - 1), one.lon],
    [56 + shift + (version - 1), one.added],
    [57 + shift + (version - 1), one.url],
  ] as const) {
    cells[at] = value
  }
  return cells.join('\t')
}

async function only(over: Cells & More = {}, version: 1 | 2 = 2): Promise<NormalisedEvent> {
  const { events, rejected } = await normalise(gdelt, row(over, version))
  if (!events[0]) throw new Error(rejected[0]?.reason)
  return events[0]
}

/** A ZIP archive with one file. */
function zip(text: string, sum?: number): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(text)
  const packed = deflateRawSync(bytes)
  const name = Buffer.from('export.CSV')
  const common = Buffer.alloc(26)
  common.writeUInt16LE(20, 0)
  common.writeUInt16LE(8, 4)
  common.writeUInt32LE(sum ?? crc32(bytes), 10)
  common.writeUInt32LE(packed.length, 14)
  common.writeUInt32LE(bytes.length, 18)
  common.writeUInt16LE(name.length, 22)
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, packed])
  const central = Buffer.concat([
    Buffer.from('PK\x01\x02\x14\x00', 'latin1'),
    common,
    Buffer.alloc(14),
    name,
  ])
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(local.length, 16)
  return new Uint8Array(Buffer.concat([local, central, end]))
}

describe('a row becomes an event', () => {
  test.each([1, 2] as const)(
    'with every field of the canonical form, version %i',
    async (version) => {
      expect(await only({}, version)).toEqual({
        id: 'gdelt:1000',
        source: 'gdelt',
        type: 'conflict',
        title: 'Protest - Port Moresby, Papua New Guinea',
        lat: -9.46472,
        lon: 147.193,
        ts: '2026-03-01T11:45:00.000Z',
        severity: 30,
        subject: null,
        status: 'active',
        url: 'https://news.example.org/a',
        geometry: null,
        ends_at: null,
        revised_at: null,
        aliases: [],
      })
    },
  )

  test.each([
    [{ quad: '1' }, 'other', 10],
    [{ quad: '2' }, 'other', 10],
    [{ quad: '3' }, 'conflict', 30],
    [{ quad: '4' }, 'conflict', 40],
    [{ quad: '4', goldstein: '-7' }, 'conflict', 50],
    [{ quad: '4', goldstein: '-9' }, 'conflict', 60],
    [{ quad: '4', goldstein: '-10', mentions: '10' }, 'conflict', 70],
    [{ quad: '4', goldstein: '-10', mentions: '50' }, 'conflict', 80],
    [{ quad: '4', goldstein: '-10', mentions: '50', root: '0' }, 'conflict', 30],
    [{ quad: '', goldstein: '', mentions: '' }, 'other', 10],
  ])('%j is of type %s and severity %i', async (over, type, severity) => {
    expect(await only(over)).toMatchObject({ type, severity })
  })

  test.each([
    ['01', 'Public statement'],
    ['02', 'Appeal'],
    ['03', 'Intent to cooperate'],
    ['04', 'Consultation'],
    ['05', 'Diplomatic cooperation'],
    ['06', 'Material cooperation'],
    ['07', 'Aid'],
    ['08', 'Concession'],
    ['09', 'Investigation'],
    ['10', 'Demand'],
    ['11', 'Disapproval'],
    ['12', 'Rejection'],
    ['13', 'Threat'],
    ['14', 'Protest'],
    ['15', 'Show of force'],
    ['16', 'Reduced relations'],
    ['17', 'Coercion'],
    ['18', 'Assault'],
    ['19', 'Fight'],
    ['20', 'Mass violence'],
  ])('the root code %s of CAMEO is titled %s', async (code, title) => {
    expect((await only({ code })).title).toBe(`${title} - Port Moresby, Papua New Guinea`)
  })

  test('the time is that of the news, by the day too; an unknown kind has a title', async () => {
    expect(await only({ day: '20041126', added: '20260301', code: '99' }, 1)).toMatchObject({
      ts: '2026-03-01T00:00:00.000Z',
      title: 'Event - Port Moresby, Papua New Guinea',
    })
  })

  test('of the rows of one story the first counts', async () => {
    const rows = [row(), row({ id: '1001' }), row({ id: '1002', code: '18' })]
    const { events, rejected } = await normalise(gdelt, rows.join('\n'))
    expect(events.map(({ id }) => id)).toEqual(['gdelt:1000', 'gdelt:1002'])
    expect(rejected).toEqual([{ item: '1001', reason: expect.stringContaining('story') }])
  })

  test('stories at different places differ, though their numbers read the same in a row', async () => {
    const rows = [row({ lat: '1', lon: '12' }), row({ id: '2', lat: '11', lon: '2' })]
    expect((await normalise(gdelt, rows.join('\n'))).events).toHaveLength(2)
  })

  test('a row that is no event does not hide the next one of its story', async () => {
    const rows = [row({ added: '20260230' }), row({ id: '2' })]
    const { events } = await normalise(gdelt, rows.join('\n'))
    expect(events.map(({ id }) => id)).toEqual(['gdelt:2'])
  })

  test('spaces around cells, ends of lines and empty lines are no part of a row', async () => {
    const { events, rejected } = await normalise(gdelt, ` \n${row({ id: ' 7 ' })}\r\n\r\n`)
    expect(rejected).toEqual([])
    expect(events).toMatchObject([{ id: 'gdelt:7', url: 'https://news.example.org/a' }])
  })

  test.each([
    [row({ geo: '0' }), 'ActionGeo_Type'],
    [row({ geo: '1' }), 'ActionGeo_Type'],
    [row({ geo: '5' }), 'ActionGeo_Type'],
    [row({ lat: '' }), 'ActionGeo_Lat'],
    [row({ lat: '91' }), 'lat'],
    [row({ lon: '-531871' }), 'lon'],
    [row({ id: 'x' }), 'GLOBALEVENTID'],
    [row({ added: 'today' }), 'DATEADDED'],
    [row({ added: '20260230' }), 'ts'],
    [row().slice(0, 50), 'cells'],
  ])('a row is rejected, and the reason names the field', async (line, field) => {
    const { rejected } = await normalise(gdelt, [row({ id: '1', code: '18' }), line].join('\n'))
    expect(rejected).toEqual([{ item: expect.any(String), reason: expect.stringContaining(field) }])
  })
})

describe('polling', () => {
  const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 12, minute)).toISOString()
  const list = (name: string) =>
    `90000 0a1b http://data.gdeltproject.org/gdeltv2/${name}.export.CSV.zip
     1 2 http://data.gdeltproject.org/gdeltv2/${name}.mentions.CSV.zip\n`
  const world = (name: string, file: (name: string) => Reply) => {
    const polled = upstream(gdelt, (url) =>
      url.pathname.endsWith('lastupdate.txt')
        ? { body: list(polled.newest) }
        : file(url.pathname.replace(/\D+(\d{14})\D+/, '$1').slice(-14)),
    ) as ReturnType<typeof upstream> & { newest: string }
    polled.newest = name
    return polled
  }
  const files = (polled: ReturnType<typeof upstream>) =>
    polled.asked.slice(1).map(({ url }) => /(\d{14})/.exec(url.pathname)?.[1])

  test('takes the newest file, the same one once, and after a gap those between', async () => {
    const polled = world('20260301120000', () => ({ body: zip(row()) }))
    expect((await polled.poll(at(1))).events).toHaveLength(1)
    expect(await polled.poll(at(16))).toMatchObject({ not_modified: true, events: [] })
    expect(polled.asked).toHaveLength(1)
    polled.newest = '20260301123000'
    await polled.poll(at(31))
    expect(files(polled)).toEqual(['20260301121500', '20260301123000'])
    polled.newest = '20260303120000'
    await polled.poll(at(2881))
    expect(files(polled)).toHaveLength(8)
  })

  test('a story is told once, also in later files; rows without a city are no news', async () => {
    const polled = world('20260301120000', () => ({ body: zip(row()) }))
    await polled.poll(at(1))
    polled.newest = '20260301121500'
    polled.answer = (
      (before) => (url: URL) =>
        url.pathname.endsWith('.zip')
          ? {
              body: zip(
                [row({ id: '7' }), row({ geo: '1' }), row({ id: 'x', code: '01' })].join('\n'),
              ),
            }
          : before(url)
    )(polled.answer)
    const { events, rejected } = await polled.poll(at(16))
    expect([events, rejected.map(({ item }) => item)]).toEqual([[], ['x']])
  })

  test('a file of the past that is missing is named and left out', async () => {
    const polled = world('20260301120000', (name) =>
      name === '20260301121500'
        ? { status: 404 }
        : { body: zip(row({ code: name.slice(-4, -2) })) },
    )
    await polled.poll(at(1))
    polled.newest = '20260301123000'
    const { rejected } = await polled.poll(at(31))
    expect(rejected).toEqual([{ item: '20260301121500', reason: 'answered HTTP 404' }])
    expect(polled.state.last).toBe('20260301123000')
  })

  test('the newest file is asked for again if it was missing', async () => {
    const polled = world('20260301120000', (name) =>
      name === '20260301123000'
        ? { status: 404 }
        : { body: zip(row({ code: name.slice(-4, -2) })) },
    )
    await polled.poll(at(1))
    polled.newest = '20260301123000'
    const { events, rejected } = await polled.poll(at(31))
    expect(events).toHaveLength(1)
    expect(rejected).toEqual([{ item: '20260301123000', reason: 'answered HTTP 404' }])
    expect(polled.state.last).toBe('20260301121500')
  })

  test.each([
    ['a damaged archive', { body: zip(row()).fill(0, 45, 60) }, { code: 'unreadable' }],
    ['a wrong checksum', { body: zip(row(), 7) }, { code: 'unreadable' }],
    ['a cut archive', { body: zip(row()).slice(0, 90) }, { code: 'unreadable' }],
    ['a web page', { body: '<html>' }, { code: 'unreadable' }],
    ['another table', { body: zip('a,b\nc,d') }, { code: 'unreadable' }],
    ['a bomb', { body: zip(' '.repeat(33 * 1024 * 1024)) }, { code: 'too_large' }],
    [
      'a rate limit',
      { status: 429, headers: { 'retry-after': '90' } },
      { retry_after_seconds: 90 },
    ],
  ])('%s is a FeedError, and the state is kept', async (_, reply, error) => {
    const polled = world('20260301120000', () => reply)
    await expect(polled.poll(at(1))).rejects.toMatchObject(error)
    expect(polled.state).toEqual({})
  })

  test('a list or a file that did not change is no news', async () => {
    const polled = world('20260301120000', () => ({ status: 304 }))
    expect(await polled.poll(at(1))).toMatchObject({ events: [], rejected: [] })
    expect(polled.state.last).toBeNull()
    polled.state = { last: '20260301114500', seen: [] }
    polled.answer = () => ({ status: 304 })
    const unchanged = { events: [], rejected: [], not_modified: true, state: polled.state }
    expect(await polled.poll(at(2))).toEqual(unchanged)
    expect(polled.asked).toHaveLength(1)
  })

  test('a file of the past that cannot be reached is waited for', async () => {
    const polled = world('20260301120000', () => ({ body: zip(row()) }))
    await polled.poll(at(1))
    polled.newest = '20260301123000'
    const { answer } = polled
    polled.answer = (url) => (url.pathname.endsWith('.zip') ? new TypeError('reset') : answer(url))
    const { rejected } = await polled.poll(at(31))
    expect(rejected).toMatchObject([{ item: '20260301121500' }])
    expect([files(polled), polled.state.last]).toEqual([['20260301121500'], '20260301120000'])
  })

  test('a list that goes back in time is followed', async () => {
    const polled = world('20260301120000', () => ({ body: zip(row()) }))
    await polled.poll(at(1))
    polled.newest = '20260301114500'
    await polled.poll(at(2))
    expect(files(polled)).toEqual(['20260301114500'])
  })

  test('only the export file counts, not its checksum or what is beside it', async () => {
    const text =
      'http://x/20260301120000.export.CSV.zip.md5\nhttp://x/20260301120000.mentions.CSV.zip\n'
    const polled = upstream(gdelt, () => ({ body: text }))
    await expect(polled.poll(at(1))).rejects.toThrow('a list without an export file')
  })

  test('a list without a file is a FeedError', async () => {
    const polled = upstream(gdelt, () => ({ body: '<html>' }))
    await expect(polled.poll(at(1))).rejects.toMatchObject({
      code: 'unreadable',
      message: 'answered with a list without an export file',
    })
  })
})

test('a quarter of an hour without news is an empty file, but another page is no file', async () => {
  expect(await normalise(gdelt, '\n')).toEqual({ events: [], rejected: [] })
  await expect(normalise(gdelt, '<html>')).rejects.toMatchObject({
    ...{ code: 'unreadable', message: 'answered with text that is not a table of GDELT' },
  })
})

test('broken answers do no harm', async () => {
  await expectHarmless(gdelt, [row(), row({ id: '2', code: '18' })].join('\n'))
  await expectAgreed(gdelt, row())
})

describeRecordings('recorded answers', () => {
  test('three rows of 2014: two with a city, one without a place', async () => {
    const { events, rejected } = await normalise(
      gdelt,
      recording('gdelt/events-v1-2014-11-24-3rows.tsv'),
    )
    expect(events.map(({ id, severity, ts }) => [id, severity, ts])).toEqual([
      ['gdelt:324845984', 20, '2014-11-24T00:00:00.000Z'],
      ['gdelt:324845987', 10, '2014-11-24T00:00:00.000Z'],
    ])
    expect(rejected).toEqual([
      { item: '324846008', reason: 'ActionGeo_Type: "0" is not a city (3 or 4)' },
    ])
  })
})
