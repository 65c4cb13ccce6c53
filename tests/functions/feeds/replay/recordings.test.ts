import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { FeedState } from '../../../../functions/feeds/feed.ts'
import { severityOfWind } from '../../../../functions/feeds/feed.ts'
import { loadReplays } from '../../../../functions/feeds/replay/load.ts'
import { readLines, toRecording } from '../../../../functions/feeds/replay/recording.ts'
import { feedOf, revisionsOf } from '../../../../functions/feeds/replay/replay.ts'
import { readStorms, stormsReplay } from '../../../../functions/feeds/replay/storms.ts'
import { NormalisedEvent } from '../../../../shared/schemas/event.ts'

const startedAt = new Date('2026-05-05T05:05:05.123Z')
const seconds = (n: number) => new Date(startedAt.getTime() + n * 1000)
const ROUND_1 = 300
const ROUND_2 = 1800

const replays = await loadReplays()
const replayOf = (source: string) => {
  const found = replays.find((replay) => replay.source === source)
  if (!found) throw new Error(`there is no ${source}`)
  return found
}

/** Everything that a replay plays in so many seconds, polled every `step` seconds. */
async function play(replay = replayOf('nhc-replay'), until = ROUND_1, step = 2) {
  const feed = feedOf(replay, startedAt)
  let state: FeedState = {}
  const events: NormalisedEvent[] = []
  for (let at = step; at <= until; at += step) {
    const fetch = () => Promise.reject(new Error('a replay needs no network'))
    const result = await feed.poll({ state, now: seconds(at), fetch })
    state = result.state
    events.push(...result.events)
  }
  return events
}

const statesById = (events: NormalisedEvent[]) =>
  Map.groupBy(events, ({ id }) => id.replace(/-r\d+$/, ''))

describe('every recorded source', () => {
  const recorded = replays.filter(({ source }) => source !== 'vessels-replay')

  test('are earthquakes, storms, fires and warnings, and none is large', async () => {
    expect(replays.map(({ source }) => source)).toEqual([
      'usgs-replay',
      'nhc-replay',
      'firms-replay',
      'nws-replay',
      'vessels-replay',
    ])
    const folder = join(import.meta.dirname, '../../../../functions/feeds/replay/recorded')
    const files = ['quakes.json.gz', 'storms.ndjson', 'fires.ndjson', 'warnings.ndjson']
    const sizes = await Promise.all(
      files.map(async (name) => (await stat(join(folder, name))).size),
    )
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(300_000)
  })

  test.each(recorded.map((replay) => [replay.source, replay] as const))(
    '%s says that it is a replay, of what and whose',
    async (source, replay) => {
      expect(replay.title).toMatch(/^REPLAY /)
      expect(replay.attribution).toMatch(/^Recorded .+ (U\.S\. |NOAA|NASA)/)
      const events = [
        ...(await play(replay)),
        ...replay.history(startedAt).map(({ event }) => event),
      ]
      expect(events.length).toBeGreaterThan(100)
      for (const event of events) {
        NormalisedEvent.parse(event)
        expect(event.title).toMatch(/^REPLAY /)
        expect(event.source).toBe(source)
        expect(event.id.startsWith(`${source}:`)).toBe(true)
        expect(event.subject === null || event.subject.startsWith(`${source}:`)).toBe(true)
        expect(replay.types).toContain(event.type)
        expect(event.severity).toBeLessThanOrEqual(replay.ceilings?.[event.type] ?? 100)
      }
    },
  )

  test.each(recorded.map((replay) => [replay.source, replay] as const))(
    '%s plays the same however often it is polled, and later rounds under other ids',
    async (_, replay) => {
      const often = await play(replay, ROUND_1 + ROUND_2, 1)
      expect(await play(replay, ROUND_1 + ROUND_2, 50)).toEqual(often)
      const ids = (round: number) =>
        new Set(
          often.flatMap(({ id }) => (id.endsWith(`-r${round}`) ? id.replace(/-r\d+$/, '') : [])),
        )
      expect(ids(1)).toEqual(ids(2))
      const history = replay.history(startedAt).map(({ event }) => event.id)
      expect(new Set(history)).toEqual(ids(1))
    },
  )

  test.each(recorded.map((replay) => [replay.source, replay] as const))(
    '%s: its history is the week before the start in order, each state a revision of its own',
    (_, replay) => {
      const history = replay.history(startedAt)
      const times = history.map(({ first_seen_at }) => first_seen_at)
      expect(times).toEqual([...times].sort())
      expect(Date.parse(times[0] ?? '')).toBeGreaterThanOrEqual(
        startedAt.getTime() - 7 * 86_400_000,
      )
      expect(Date.parse(times.at(-1) ?? '')).toBeLessThan(startedAt.getTime())
      const parts = revisionsOf(history)
      expect(parts.flat()).toHaveLength(history.length)
      for (const part of parts) {
        const ids = part.map(({ event }) => event.id)
        expect(new Set(ids).size).toBe(ids.length)
      }
      const newest = statesById(parts.flat().map(({ event }) => event))
      // No more of them than the states of an event.
      expect(parts).toHaveLength(Math.max(...[...newest.values()].map(({ length }) => length)))
      for (const [id, states] of newest) {
        expect(states).toEqual(history.map(({ event }) => event).filter((event) => event.id === id))
      }
    },
  )
})

describe('storms', () => {
  test('move, strengthen and end, and no state of one comes before its end is over', async () => {
    const storms = statesById(await play())
    expect([...storms.keys()].sort()).toEqual([
      'nhc-replay:al072008',
      'nhc-replay:al082008',
      'nhc-replay:al092008',
      'nhc-replay:al102008',
    ])
    for (const states of storms.values()) {
      const status = states.map(({ status }) => status)
      expect(status).toEqual([...Array(status.length - 1).fill('active'), 'ended'])
      const times = states.map(({ ts }) => ts)
      expect(times).toEqual([...times].sort())
      expect(new Set(states.map(({ lat, lon }) => `${lat},${lon}`)).size).toBeGreaterThan(10)
    }
    const ike = storms.get('nhc-replay:al092008') ?? []
    const titles = [...new Set(ike.map(({ title }) => title))]
    expect(titles).toEqual([
      'REPLAY Tropical Depression Ike',
      'REPLAY Tropical Storm Ike',
      'REPLAY Hurricane Ike',
    ])
    expect(ike[0]?.severity).toBe(severityOfWind(30))
    expect(Math.max(...ike.map(({ severity }) => severity))).toBe(severityOfWind(125))
  })

  test('are where the clock is in the recorded week', () => {
    const line = { id: 'al012000', name: 'Ann', track: [[360, 'TS', 20, -60, 50]], ended: 720 }
    const header = { starts_at: '2000-01-01T00:00:00Z', ends_at: '2000-01-02T00:00:00Z' }
    const text = [header, line].map((part) => JSON.stringify(part)).join('\n')
    const replay = stormsReplay(readStorms(text))
    const played = (from: number, to: number) => replay.due(from, to, startedAt.getTime())
    expect(played(0, 75_000)).toEqual([])
    expect(played(75_000, 75_001)).toMatchObject([
      { id: 'nhc-replay:al012000-r1', status: 'active', ts: seconds(75).toISOString() },
    ])
    expect(played(75_001, 150_000)).toEqual([])
    expect(played(150_000, 150_001)).toMatchObject([
      { id: 'nhc-replay:al012000-r1', status: 'ended', ts: seconds(150).toISOString() },
    ])
    expect(played(300_000, 300_000 + ROUND_2 * 250 + 1)).toMatchObject([
      { id: 'nhc-replay:al012000-r2', status: 'active', ts: seconds(300 + 450).toISOString() },
    ])
  })
})

describe('fires', () => {
  test('are 300, grow with the passes of the satellites, and end', async () => {
    const fires = statesById(await play(replayOf('firms-replay')))
    expect(fires.size).toBe(300)
    const grown = [...fires.values()].filter((states) => states.length > 2)
    expect(grown.length).toBeGreaterThan(50)
    for (const states of fires.values()) {
      const detections = states.map(({ title }) => Number(/(\d+) detections/.exec(title)?.[1] ?? 1))
      const active = detections.slice(0, states.at(-1)?.status === 'ended' ? -1 : undefined)
      expect(active).toEqual([...new Set(active)].sort((a, b) => a - b))
      for (const { ts, ends_at, status } of states) {
        if (status === 'active') expect(Date.parse(ends_at ?? '')).toBeGreaterThan(Date.parse(ts))
      }
    }
    expect([...fires.values()].some((states) => states.at(-1)?.status === 'ended')).toBe(true)
  })
})

describe('warnings', () => {
  test('last until they end, and end then', async () => {
    const warnings = statesById(await play(replayOf('nws-replay'), ROUND_1, 1))
    expect(warnings.size).toBe(103)
    for (const [first, ...rest] of warnings.values()) {
      expect(first?.status).toBe('active')
      expect(first?.ends_at).not.toBeNull()
      expect(rest.map(({ status, ends_at }) => [status, ends_at])).toEqual(
        rest.map(() => ['ended', first?.ends_at]),
      )
    }
    const all = [...warnings.values()].flat()
    expect(new Set(all.map(({ severity }) => severity)).size).toBeGreaterThan(3)
    expect(all.some(({ geometry }) => geometry?.type === 'Polygon')).toBe(true)
    expect(all.map(({ title }) => title)).toContain('REPLAY Red Flag Warning by NWS Duluth MN')
  })
})

describe('a recording', () => {
  const span = { starts_at: 1000, ends_at: 2000 }
  const event = NormalisedEvent.parse({
    ...{ id: 'a:1', source: 'a', type: 'other', title: 'A', lat: 0, lon: 0, severity: 0 },
    ...{ ts: new Date(1000).toISOString(), subject: null, status: 'active', url: null },
    ...{ geometry: null, ends_at: null, revised_at: null, aliases: [] },
  })

  test('holds what was seen from its beginning up to, but without, its end', () => {
    const states = [999, 1000, 1500, 2000].map((seen_at) => ({ seen_at, event }))
    expect(toRecording(span, states).items.map(({ at }) => at)).toEqual([0, 0.5])
  })

  test('adds the end of an event by its last state alone', () => {
    const lasting = (until: number) => ({ ...event, ends_at: new Date(until).toISOString() })
    const items = toRecording(span, [
      { seen_at: 1200, event: lasting(1900) },
      { seen_at: 1000, event: lasting(1300) },
    ]).items
    expect(items.map(({ at, event }) => [at, event.status])).toEqual([
      [0, 'active'],
      [0.2, 'active'],
      [0.9, 'ended'],
    ])
  })

  test('adds no end to what has ended, or ended before it was seen', () => {
    const ends_at = new Date(1500).toISOString()
    const over = { seen_at: 1600, event: { ...event, ends_at } }
    const ended = { seen_at: 1100, event: { ...event, ends_at, status: 'ended' as const } }
    expect(toRecording(span, [over]).items).toHaveLength(1)
    expect(toRecording(span, [ended]).items).toHaveLength(1)
  })

  test('is read line by line, and a line that is none is refused', () => {
    const header = '{"starts_at":"2000-01-01T00:00:00Z","ends_at":"2000-01-02T00:00:00Z"}'
    const { span, lines, timeOf } = readLines(`${header}\n1\n2\n`, z.number())
    expect(span).toEqual({ starts_at: 946_684_800_000, ends_at: 946_771_200_000 })
    expect(lines).toEqual([1, 2])
    expect(timeOf(60)).toBe(946_684_800_000 + 3_600_000)
    expect(() => readLines(`${header}\n"x"\n`, z.number())).toThrow()
    expect(() => readLines('{}\n1\n', z.number())).toThrow(/starts_at/)
  })
})
