import { describe, expect, test } from 'vitest'
import { tsunami } from '../../../functions/feeds/tsunami.ts'
import { atom, type Given } from '../../support/feeds/cap.ts'
import {
  describeRecordings,
  expectAgreed,
  expectHarmless,
  normalise,
  recording,
} from '../../support/feeds/feeds.ts'
import { bulletin } from '../../support/feeds/tsunami.ts'

const read = (number: number, given: Given = {}) => normalise(tsunami, bulletin(number, given))

describe('a bulletin becomes an event', () => {
  test('with every field of the canonical form', async () => {
    expect(await read(2)).toEqual({
      rejected: [],
      events: [
        {
          id: 'tsunami:PAAQ-lqw6d6',
          source: 'tsunami',
          type: 'tsunami',
          title: 'A tsunami warning is in effect',
          lat: 51.8,
          lon: -171.4,
          ts: '2026-03-01T10:55:55.000Z',
          severity: 100,
          subject: null,
          status: 'active',
          url: 'https://www.tsunami.gov/events/PAAQ/2026/03/01/lqw6d6/1/WEPA41/WEPA41.txt',
          geometry: null,
          ends_at: '2026-03-01T12:30:00.000Z',
          revised_at: '2026-03-01T11:02:00.000Z',
          magnitude: 7.1,
          depth_km: 39,
          aliases: [],
        },
      ],
    })
  })

  test.each<[string, Given, number, string]>([
    ['Tsunami Warning', {}, 100, 'active'],
    ['Tsunami Threat', {}, 100, 'active'],
    ['Tsunami Advisory', {}, 70, 'active'],
    ['Tsunami Watch', {}, 60, 'active'],
    ['Tsunami Information', {}, 20, 'active'],
    ['Tsunami Wave Report', {}, 20, 'active'],
    ['Tsunami Cancellation', {}, 0, 'ended'],
    ['Tsunami Warning', { alert: { msgType: 'Cancel' } }, 0, 'ended'],
    ['Tsunami Warning', { info: { responseType: 'AllClear' } }, 0, 'ended'],
  ])('%s %j is severity %i and %s', async (event, given, severity, status) => {
    const { events } = await read(3, { ...given, info: { event, ...given.info } })
    expect(events).toMatchObject([{ severity, status }])
  })

  test('what it lacks has its place taken', async () => {
    expect((await read(1, { info: { expires: null } })).events).toMatchObject([
      { ends_at: '2026-03-01T17:01:00.000Z' },
    ])
    expect((await read(1, { info: { headline: null } })).events).toMatchObject([
      { title: 'Tsunami Warning - 45 miles SE of Amukta Pass, Alaska' },
    ])
    const bare = { EventPreliminaryMagnitude: '', EventDepth: '' }
    expect((await read(1, { parameters: bare })).events).toMatchObject([
      { magnitude: null, depth_km: null },
    ])
    const circle = { area: { circle: '51.8,-171.4 0.0' }, parameters: { EventLatLon: '' } }
    expect((await read(1, circle)).events).toEqual([])
    const without = bulletin(1, { area: { circle: '51.8,-171.4 0.0' } }).replace(
      'EventLatLon',
      'Other',
    )
    expect((await normalise(tsunami, without)).events).toMatchObject([{ lat: 51.8, lon: -171.4 }])
    const named = bulletin(1).replace(/<incidents>[^<]*<\/incidents>/, '')
    expect((await normalise(tsunami, named)).events).toMatchObject([{ id: 'tsunami:PAAQ-lqw6d6' }])
  })

  test.each<[written: string, lat: number, lon: number]>([
    ['51,-171', 51, -171],
    ['-51.25, 171', -51.25, 171],
    ['51,-171.5 0', 51, -171.5],
  ])('at "%s"', async (EventLatLon, lat, lon) => {
    expect((await read(1, { parameters: { EventLatLon } })).events).toMatchObject([{ lat, lon }])
  })

  test.each<[written: string, depth_km: number | null]>([
    ['39.5 km', 39.5],
    ['10.25 kilometers', 10.25],
    ['7km', 7],
    ['7  km', 7],
    ['7 miles', null],
    ['about 7 km', null],
  ])('%s deep', async (EventDepth, depth_km) => {
    expect((await read(1, { parameters: { EventDepth } })).events).toMatchObject([{ depth_km }])
  })

  test.each([
    ['http://tsunami.gov/a.txt', 'https://tsunami.gov/a.txt'],
    [
      'http://other.example/?of=http://tsunami.gov/',
      'http://other.example/?of=http://tsunami.gov/',
    ],
  ])('at the address %s its page is %s', async (web, url) => {
    expect((await read(1, { info: { web } })).events).toMatchObject([{ url }])
  })

  test('without incidents its identifier names the event', async () => {
    const named = (identifier: string) =>
      normalise(
        tsunami,
        bulletin(12, { alert: { identifier } }).replace(/<incidents>[^<]*<\/incidents>/, ''),
      )
    expect((await named('PAAQ-12-abc')).events).toMatchObject([{ id: 'tsunami:PAAQ-abc' }])
    for (const identifier of ['PAAQ-12-', 'PAAQ-12-a b']) {
      expect((await named(identifier)).rejected).toMatchObject([
        { reason: `identifier: "${identifier}" is not <centre>-<bulletin>-<event>` },
      ])
    }
  })

  test('without a headline and a location it is where its area is, or at a place unknown', async () => {
    const bare = (given: Given) =>
      normalise(tsunami, bulletin(1, given).replace('EventLocationName', 'Other'))
    const headline = { headline: null }
    expect((await bare({ info: headline })).events).toMatchObject([
      { title: 'Tsunami Warning - Testland' },
    ])
    expect(
      (await bare({ info: { ...headline, event: null }, area: { areaDesc: null } })).events,
    ).toMatchObject([{ title: 'Tsunami bulletin - place unknown' }])
  })

  test.each<[string, Given, string]>([
    ['a test', { alert: { status: 'Test' } }, 'status: "Test"'],
    ['a test by its headline', { info: { headline: 'THIS IS A TEST' } }, 'says that it is a test'],
    ['of another form', { alert: { identifier: 'bulletin' } }, 'identifier: "bulletin"'],
    ['with a longer centre', { alert: { identifier: 'XPAAQ-1-a' } }, 'identifier: "XPAAQ-1-a"'],
    [
      'with words before its place',
      { parameters: { EventLatLon: 'at 51,-171' } },
      'EventLatLon: "at 51,-171"',
    ],
    ['without a place', { parameters: { EventLatLon: 'off Alaska' } }, 'EventLatLon: "off Alaska"'],
    ['at no place', { parameters: { EventLatLon: '95.0,10.0' } }, 'lat'],
    ['without an origin', { parameters: { EventOriginTime: '' } }, 'EventOriginTime: is missing'],
    ['with a broken origin', { parameters: { EventOriginTime: 'now' } }, 'EventOriginTime: "now"'],
    ['without an info', { infos: '' }, 'info: is missing'],
    ['without sent', { alert: { sent: null } }, 'sent: is missing'],
  ])('one %s is rejected', async (_, given, reason) => {
    const { events, rejected } = await read(1, given)
    expect(events).toEqual([])
    expect(rejected[0]?.reason).toContain(reason)
  })

  test('an index alone has none', async () => {
    const { rejected } = await normalise(tsunami, atom([['https://www.tsunami.gov/a.xml', '1']]))
    const reason = 'link: leads to a bulletin that is not in this answer'
    expect(rejected).toEqual([{ item: 'https://www.tsunami.gov/a.xml', reason }])
    const relative = atom([['/b.xml', '1']]).replace('</feed>', '<entry><id>x</id></entry></feed>')
    expect((await normalise(tsunami, relative)).rejected).toEqual([
      { item: 'https://www.tsunami.gov/b.xml', reason },
      { item: '#2', reason },
    ])
    await expect(normalise(tsunami, '<html/>')).rejects.toMatchObject({
      ...{
        code: 'unreadable',
        message: 'answered with XML that is neither a bulletin nor an index',
      },
    })
  })
})

test('broken bulletins do no harm', async () => {
  await expectHarmless(tsunami, bulletin(1))
  await expectAgreed(tsunami, bulletin(1))
})

describeRecordings('tsunami-wcatwc-2011-09-02.cap', () => {
  const FILE = 'cap/tsunami-wcatwc-2011-09-02.cap'
  test('is a warning at the time and place of the earthquake, not of the arrivals', async () => {
    const { events, rejected } = await normalise(tsunami, recording(FILE))
    expect(rejected).toEqual([])
    expect(events).toMatchObject([
      {
        id: 'tsunami:PAAQ-lqw6d6',
        ts: '2011-09-02T10:55:55.000Z',
        lat: 51.8,
        lon: -171.4,
        severity: 100,
        magnitude: 7.1,
        depth_km: 39,
        ends_at: '2011-09-02T12:36:50.000Z',
      },
    ])
  })
  test('broken does no harm', async () => {
    await expectHarmless(tsunami, recording(FILE))
  })
})
