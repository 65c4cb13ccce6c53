import { describe, expect, test } from 'vitest'
import { nhc } from '../../../functions/feeds/nhc.ts'
import type { NormalisedEvent } from '../../../shared/schemas/event.ts'
import {
  describeRecordings,
  expectAgreed,
  expectHarmless,
  expectRobust,
  normalise,
  recording,
  upstream,
} from '../../support/feeds/feeds.ts'

const storm = (over: Record<string, unknown> = {}) => ({
  id: 'al012026',
  binNumber: 'AT1',
  name: 'Arthur',
  classification: 'TS',
  intensity: '35',
  pressure: '1006',
  latitudeNumeric: 29.6,
  longitudeNumeric: -77.7,
  movementDir: 20,
  lastUpdate: '2026-03-01T09:00:00.000Z',
  publicAdvisory: { advNum: '002A', url: 'https://www.nhc.noaa.gov/text/MIATCPAT1.shtml' },
  forecastTrack: null,
  ...over,
})
const answer = (...activeStorms: unknown[]) => JSON.stringify({ activeStorms })

const block = (over: Record<string, string | null> = {}) => {
  const fields = {
    center: '32.9, -68.1',
    type: 'Tropical Storm',
    name: 'Alex',
    wallet: 'AT1',
    atcf: 'AL012026',
    datetime: '2:00 AM AST Mon Jun 6',
    wind: '70 mph',
    ...over,
  }
  const elements = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `<nhc:${name}>${value}</nhc:${name}>`)
  return `<item><title>Summary</title><pubDate>Sun, 01 Mar 2026 05:49:36 GMT</pubDate>
    <link>https://www.nhc.noaa.gov/text/060549.shtml</link>
    <nhc:Cyclone>${elements.join('')}</nhc:Cyclone></item>`
}
const rss = (...items: string[]) =>
  `<?xml version="1.0"?><rss xmlns:nhc="https://www.nhc.noaa.gov" version="2.0"><channel>
   <item><title>Atlantic Tropical Weather Outlook</title></item>${items.join('')}</channel></rss>`

async function only(text: string): Promise<NormalisedEvent> {
  const { events, rejected } = await normalise(nhc, text)
  if (!events[0] || events.length > 1) throw new Error(rejected[0]?.reason ?? 'not one event')
  return events[0]
}

describe('a storm becomes an event', () => {
  test('with every field of the canonical form', async () => {
    expect(await only(answer(storm()))).toEqual({
      id: 'nhc:al012026',
      source: 'nhc',
      type: 'storm',
      title: 'Tropical Storm Arthur',
      lat: 29.6,
      lon: -77.7,
      ts: '2026-03-01T09:00:00.000Z',
      severity: 50,
      subject: 'nhc:al012026',
      status: 'active',
      url: 'https://www.nhc.noaa.gov/text/MIATCPAT1.shtml',
      geometry: null,
      ends_at: null,
      revised_at: '2026-03-01T09:00:00.000Z',
      aliases: [],
    })
  })

  test('from RSS too, where the wind is in miles an hour and the texts are no events', async () => {
    expect(await only(rss(block()))).toMatchObject({
      id: 'nhc:al012026',
      title: 'Tropical Storm Alex',
      lat: 32.9,
      lon: -68.1,
      ts: '2026-03-01T05:49:36.000Z',
      severity: 50,
      url: 'https://www.nhc.noaa.gov/text/060549.shtml',
    })
  })

  test.each([
    ['30', 30],
    ['34', 50],
    [64, 60],
    ['83', 70],
    ['96', 80],
    ['113', 90],
    ['137', 100],
    [null, 30],
  ])('a wind of %s knots has severity %i', async (intensity, severity) => {
    expect((await only(answer(storm({ intensity })))).severity).toBe(severity)
  })

  test.each([
    ['40 mph', 50],
    ['75 mph', 60],
    ['160 mph', 100],
    [null, 30],
  ])('a wind of %s has severity %i', async (wind, severity) => {
    expect((await only(rss(block({ wind })))).severity).toBe(severity)
  })

  test.each([
    ['TD', 'Tropical Depression'],
    ['TS', 'Tropical Storm'],
    ['HU', 'Hurricane'],
    [' hu ', 'Hurricane'],
    ['MH', 'Major Hurricane'],
    ['STD', 'Subtropical Depression'],
    ['STS', 'Subtropical Storm'],
    ['SD', 'Subtropical Depression'],
    ['SS', 'Subtropical Storm'],
    ['PTC', 'Potential Tropical Cyclone'],
    ['PT', 'Post-Tropical Cyclone'],
    ['PC', 'Post-Tropical Cyclone'],
    ['EX', 'Post-Tropical Cyclone'],
    ['TY', 'Typhoon'],
  ])('of the class %j is a %s', async (classification, words) => {
    expect((await only(answer(storm({ classification })))).title).toBe(`${words} Arthur`)
  })

  test('a wind may have spaces about it and decimals behind it', async () => {
    for (const intensity of [' 96 ', '96.25', '96.5']) {
      expect((await only(answer(storm({ intensity })))).severity).toBe(80)
    }
  })

  test('the id survives another bin and another case; an unknown class stands as it is', async () => {
    const other = storm({ id: 'EP122026', binNumber: 'CP3', classification: 'XX', name: null })
    expect(await only(answer(other))).toMatchObject({
      id: 'nhc:ep122026',
      title: 'XX EP122026',
    })
    expect((await only(answer(storm({ classification: null })))).title).toBe(
      'Tropical Cyclone Arthur',
    )
  })

  test.each([
    [{ id: 'AT1' }, 'id: must be an ATCF id such as al012020'],
    [{ id: 'xal012020' }, 'id: must be an ATCF id'],
    [{ id: 'al0120201' }, 'id: must be an ATCF id'],
    [{ intensity: '1e2' }, 'intensity'],
    [{ intensity: '0x10' }, 'intensity'],
    [{ intensity: '-96' }, 'intensity'],
    [{ intensity: '9.e1' }, 'intensity'],
    [{ latitudeNumeric: null }, 'latitudeNumeric'],
    [{ latitudeNumeric: 91 }, 'lat'],
    [{ longitudeNumeric: -181 }, 'lon'],
    [{ intensity: 'strong' }, 'intensity'],
    [{ lastUpdate: 'today' }, 'ts'],
  ])('%j is rejected, and the reason names the field', async (over, field) => {
    const { events, rejected } = await normalise(nhc, answer(storm(over)))
    expect([events, rejected[0]?.reason]).toEqual([[], expect.stringContaining(field)])
  })

  test.each([
    [{ center: '32.95,-68.25' }, { lat: 32.95, lon: -68.25 }],
    [{ center: '32, -68' }, { lat: 32, lon: -68 }],
    [{ center: '-32, 68' }, { lat: -32, lon: 68 }],
    [{ wind: '70mph' }, { severity: 50 }],
    [{ wind: '74.75 MPH' }, { severity: 60 }],
    [{ wind: null }, { severity: 30 }],
    [{ type: null }, { title: 'Tropical Cyclone Alex' }],
    [{ name: null }, { title: 'Tropical Storm AL012026' }],
  ])('%j in RSS becomes %j', async (over, expected) => {
    expect(await only(rss(block(over)))).toMatchObject(expected)
  })

  test.each([
    ['<feed><channel/></feed>', 'unreadable'],
    ['  <rss/>', 'unreadable'],
    ['{"a":"<b>"}', 'not_json'],
    ['[<a>]', 'not_json'],
  ])('%s is no answer', async (text, code) => {
    await expect(normalise(nhc, text)).rejects.toMatchObject({ code })
  })

  test('what is no channel, and no list of storms, is said', async () => {
    await expect(normalise(nhc, '{}')).rejects.toThrow(
      'answered with JSON without a list of activeStorms',
    )
    await expect(normalise(nhc, '<feed><channel/></feed>')).rejects.toThrow(
      'answered with XML that is not an RSS channel',
    )
    expect(await only(rss(block()).replace(/^<[^>]*>/, ' \n'))).toMatchObject({
      id: 'nhc:al012026',
    })
  })

  test.each([
    [{ atcf: null }, 'atcf'],
    [{ atcf: 'xal012020' }, 'nhc:atcf: must be an ATCF id such as al012020'],
    [{ center: 'here' }, 'center'],
    [{ center: 'at 32, -68' }, 'center'],
    [{ center: '32, -68 or so' }, 'center'],
    [{ wind: '60 kt' }, 'wind'],
    [{ wind: 'over 60 mph' }, 'wind'],
    [{ wind: '60 mph or more' }, 'wind'],
  ])('%j in RSS is rejected, and the reason names the field', async (over, field) => {
    const { events, rejected } = await normalise(nhc, rss(block(over)))
    expect([events, rejected[0]?.reason]).toEqual([[], expect.stringContaining(field)])
  })
})

describe('polling', () => {
  const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 12, minute)).toISOString()
  const brief = ({ events }: { events: NormalisedEvent[] }) =>
    events.map(({ id, status }) => `${id} ${status}`)

  test('a storm that two answers in a row lack has ended; none at all is the quiet answer', async () => {
    const world = upstream(nhc, () => ({ body: answer(storm()) }))
    const [first] = (await world.poll(at(0))).events
    world.answer = () => ({ body: answer() })
    expect(brief(await world.poll(at(10)))).toEqual([])
    // Its time stays, so that the same storm can come back.
    expect((await world.poll(at(20))).events).toEqual([{ ...first, status: 'ended' }])
    expect(brief(await world.poll(at(30)))).toEqual([])
  })

  test('one that cannot be read has not ended, also in capitals', async () => {
    const world = upstream(nhc, () => ({ body: answer(storm()) }))
    await world.poll(at(0))
    world.answer = () => ({ body: answer(storm({ id: 'AL012026', lastUpdate: null })) })
    for (const minute of [10, 20, 30]) expect(brief(await world.poll(at(minute)))).toEqual([])
  })

  test('a 304 changes nothing', async () => {
    const world = upstream(nhc, () => ({ body: answer(storm()), headers: { etag: '"a"' } }))
    expect(await world.poll(at(0))).toMatchObject({ not_modified: false })
    const { state } = world
    world.answer = () => ({ status: 304 })
    expect(await world.poll(at(10))).toEqual({
      ...{ events: [], rejected: [], not_modified: true, state },
    })
    expect(world.asked[0]?.headers.get('if-none-match')).toBe('"a"')
  })

  test.each([
    [
      'a rate limit',
      { status: 429, headers: { 'retry-after': '90' } },
      { retry_after_seconds: 90 },
    ],
    ['a failure', { status: 503 }, { status: 503 }],
    ['a web page', { body: '<html>' }, { code: 'not_json' }],
    ['an empty body', { body: '' }, { code: 'not_json' }],
    ['other JSON', { json: {} }, { code: 'not_json' }],
  ])('%s is a FeedError, and the state is kept', async (_, reply, error) => {
    const world = upstream(nhc, () => ({ body: answer(storm()) }))
    await world.poll(at(0))
    const { state } = world
    world.answer = () => reply
    await expect(world.poll(at(10))).rejects.toMatchObject(error)
    expect(world.state).toEqual(state)
  })
})

describe('broken answers', () => {
  test('do no harm', async () => {
    await expectHarmless(nhc, answer(storm()))
    await expectHarmless(nhc, rss(block()))
    await expectAgreed(nhc, rss(block()), 'nhc-rss')
    await expectRobust(nhc, { activeStorms: [storm(), storm()] })
  })
})

describeRecordings('recorded answers', () => {
  test.each([
    ['nhc/current-storms-2020-05-17.json', 'nhc:al012020', 50, '2020-05-17T06:00:00.000Z'],
    ['nhc/index-at-2022-06-06.xml', 'nhc:al012022', 50, '2022-06-06T05:49:36.000Z'],
  ])('%s gives one storm', async (file, id, severity, ts) => {
    const { events, rejected } = await normalise(nhc, recording(file))
    expect(rejected).toEqual([])
    expect(events).toMatchObject([{ id, severity, ts }])
  })
})
