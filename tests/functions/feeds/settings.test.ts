import { describe, expect, test } from 'vitest'
import type { FeedResult } from '../../../functions/feeds/feed.ts'
import {
  FEED_SETTINGS,
  KNOWN_FEEDS,
  selectFeeds,
  settingsOf,
} from '../../../functions/feeds/feeds.ts'
import { isStreamed } from '../../../functions/feeds/stream.ts'

/** What people write into a setting, right and wrong, and at its edges. */
const WRITTEN = [
  ...['', ' ', 'x', '0', '1', '-1', '1.5', '1e3', 'true', 'null', 'a'.repeat(300)],
  ...['41.0,29.0', '41.0,29.0,100', '90,180,250', '90.1,180,250', '90,180.1,250'],
  ...['90,180,1', '90,180,0.9', '90,180,251', '41,29,100;41,29,100', '41,29,100,1'],
  ...['-180,-90,180,90', '-181,-90,180,90', '0,0,0,0', '1,2,3,4', '4,3,2,1', '170,-10,-170,10'],
  ...['1,2,3,4;5,6,7,8', '1,2,3', '-90,-180,90,180', '1,2,1,4', 'https://a.example/feed.xml'],
  ...['http://a.example/feed.xml', 'ftp://a.example', 'https://a.example/b https://c.example'],
  ...['https://a.example,https://b.example', 'udp://0.0.0.0:5000', 'tcp://10.0.0.1:5000'],
  ...['tcp://10.0.0.1', 'udp://x:99999', 'ws://a.example', 'http://192.168.1.5/aircraft.json'],
  ...['turkey', 'turkey,greece', 'TR', 'tr,gr', 'Turkey; Greece', 'atlantis', 'my-application'],
  ...['0123456789abcdef0123456789abcdef', '0123456789ABCDEF0123456789ABCDEF01234567'],
]

test.each(Object.entries(FEED_SETTINGS))(
  '%s takes and refuses what was agreed, and repeats no value',
  async (name, { schema, is_required }) => {
    const secret = 'Zq7-not-to-be-shown'
    const said = Map.groupBy(WRITTEN, (value) => {
      const read = schema.safeParse(value)
      if (!read.success) return read.error.issues.map(({ message }) => message).join(' ')
      return read.data === value ? 'taken as it is' : `taken as ${JSON.stringify(read.data)}`
    })
    const shown = (value: string) => (value.length > 60 ? `${value[0]} × ${value.length}` : value)
    const lines = [...said].map(
      ([what, values]) =>
        `${what}:\n${values.map((value) => `  ${JSON.stringify(shown(value))}\n`).join('')}`,
    )
    const refused = schema.safeParse(`\n${secret}`)
    if (!refused.success) expect(refused.error.message).not.toContain(secret)
    await expect(`${is_required ? 'required' : 'optional'}\n${lines.join('')}`).toMatchFileSnapshot(
      `golden/settings/${name}.txt`,
    )
  },
)

describe('every feed', () => {
  test('says of itself what was agreed', async () => {
    const about = KNOWN_FEEDS.map((feed) => {
      const { source, title, attribution, types, interval_seconds, is_optional = false } = feed
      const { ceilings = {}, settings = {}, region, stream } = feed
      const connections = stream && {
        silence_seconds: stream.silence_seconds,
        is_often_quiet: stream.is_often_quiet ?? false,
      }
      return [
        `${source}: ${title}`,
        `  ${attribution}`,
        `  ${types.join(', ')}; ceilings ${JSON.stringify(ceilings)}`,
        `  every ${interval_seconds} s; optional: ${is_optional}; region: ${region !== undefined}`,
        `  settings: ${Object.keys(settings).join(', ') || 'none'}; stream: ${JSON.stringify(connections ?? null)}`,
      ].join('\n')
    })
    await expect(`${about.join('\n')}\n`).toMatchFileSnapshot('golden/feeds.txt')
  })
})

describe('a selected feed has its settings', () => {
  const select = (source: string, values: Record<string, string>) => {
    const [feed] = selectFeeds([source], values).feeds
    if (!feed) throw new Error(`${source} lacks a setting`)
    return feed
  }

  test('when it polls, and not those of others', async () => {
    const values = { READSB_URL: 'http://10.0.0.5/aircraft.json', AISSTREAM_KEY: 'secret' }
    const feed = select('readsb', values)
    if (!('poll' in feed)) throw new Error('it polls')
    const asked: string[] = []
    const fetch: typeof globalThis.fetch = async (url) => {
      asked.push(String(url))
      return Response.json({ now: 1_772_366_400, aircraft: [] })
    }
    const result: FeedResult = await feed.poll({ state: {}, now: new Date(), fetch })
    expect([asked, result.events]).toEqual([[values.READSB_URL], []])
    expect(isStreamed(feed)).toBe(false)
    expect(Object.keys(settingsOf(feed, values))).toEqual(['READSB_URL'])
    expect(Object.keys(settingsOf(feed, {}))).toEqual([])
  })

  test('when it streams', () => {
    const feed = select('aisstream', { AISSTREAM_KEY: 'secret', READSB_URL: 'http://x/' })
    expect('poll' in feed).toBe(false)
    expect(isStreamed(feed)).toBe(true)
    expect(feed.stream?.connections({})[0]?.hello).toContain('secret')
    expect(feed.stream).toMatchObject({ silence_seconds: 60 })
  })

  test('when it does both', () => {
    const feed = select('emsc', {})
    expect('poll' in feed).toBe(true)
    expect(feed.stream?.connections({})).toHaveLength(1)
  })
})
