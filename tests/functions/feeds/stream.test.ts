import { describe, expect, test } from 'vitest'
import { feedError, type Stream } from '../../../functions/feeds/feed.ts'
import { withoutStreams } from '../../../functions/feeds/feeds.ts'
import { type Open, type StreamBatch, streamFeed } from '../../../functions/feeds/stream.ts'
import { usgs } from '../../../functions/feeds/usgs.ts'
import { quake } from '../../support/jobs.ts'

const STREAM: Stream = {
  connections: () => [{ name: 'one', url: 'test:one' }],
  createReader:
    () =>
    (frame, { item }) => {
      if (frame === 'wrong key') throw feedError('http_status', 'the key is not valid')
      if (frame === 'throws') throw new Error('unexpected')
      if (frame === 'nothing') return { events: [], rejected: [] }
      if (frame === 'both') return { events: [quake()], rejected: [{ item, reason: 'garbage' }] }
      if (frame === 'garbage') return { events: [], rejected: [{ item, reason: 'garbage' }] }
      return { events: [quake({ title: frame })], rejected: [] }
    },
  silence_seconds: 60,
}
const FAST = { batch_ms: 5, wait_ms: { first: 5, longest: 20 }, random: () => 0.5 }

type Hooks = Parameters<Open>[1]
const untilAborted = ({ signal }: Hooks) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))

/** Takes batches until `isEnough` holds of all that came. */
async function take(
  open: Open,
  isEnough: (all: StreamBatch) => boolean,
  options: Partial<Parameters<typeof streamFeed>[1]> & { stream?: Stream } = {},
): Promise<{ all: StreamBatch; sizes: number[] }> {
  const { stream = STREAM, ...input } = options
  const stop = new AbortController()
  const all: StreamBatch = {
    events: [],
    rejected: [],
    rejected_count: 0,
    dropped: 0,
    is_alive: false,
    problems: [],
  }
  const sizes: number[] = []
  for await (const batch of streamFeed(
    { stream },
    { ...FAST, ...input, open, signal: stop.signal },
  )) {
    sizes.push(batch.events.length)
    all.events.push(...batch.events)
    all.rejected.push(...batch.rejected)
    all.rejected_count += batch.rejected_count
    all.dropped += batch.dropped
    all.is_alive ||= batch.is_alive
    all.problems.push(...batch.problems)
    if (isEnough(all)) break
  }
  stop.abort()
  return { all, sizes }
}

describe('a stream', () => {
  test('gives batches of at most a thousand events, in order', async () => {
    const open: Open = async (_, hooks) => {
      for (let index = 0; index < 2_500; index++) hooks.onFrame(`event ${index}`, '')
      await untilAborted(hooks)
    }
    const { all, sizes } = await take(open, ({ events }) => events.length === 2_500)
    expect(sizes.filter((size) => size > 0)).toEqual([1_000, 1_000, 500])
    expect(all.events.map(({ title }) => title)).toEqual(
      Array.from({ length: 2_500 }, (_, index) => `event ${index}`),
    )
    expect(all).toMatchObject({ is_alive: true, dropped: 0, problems: [] })
  })

  test('drops the oldest beyond its bound, and says how many', async () => {
    const open: Open = async (_, hooks) => {
      for (let index = 0; index < 250; index++) hooks.onFrame(`event ${index}`, '')
      await untilAborted(hooks)
    }
    const { all } = await take(open, ({ events }) => events.length > 0, { max_waiting: 100 })
    // A tenth at once, each time there are more than a hundred.
    expect([all.events.length, all.dropped]).toEqual([100, 150])
    expect(all.events.at(-1)?.title).toBe('event 249')
    const roomy = await take(open, ({ events }) => events.length > 0, { max_waiting: 250 })
    expect([roomy.all.events.length, roomy.all.dropped]).toEqual([250, 0])
  })

  test('rejects garbage with its number, and does not count it as life', async () => {
    const open: Open = async (_, hooks) => {
      for (let index = 0; index < 8; index++) hooks.onFrame(index % 2 ? 'throws' : 'garbage', '')
      await untilAborted(hooks)
    }
    const { all } = await take(open, ({ rejected_count }) => rejected_count === 8)
    expect(all.is_alive).toBe(false)
    expect(all.rejected).toEqual([
      { item: '#1', reason: 'garbage' },
      { item: '#2', reason: 'unexpected' },
      { item: '#3', reason: 'garbage' },
      { item: '#4', reason: 'unexpected' },
      { item: '#5', reason: 'garbage' },
    ])
  })

  test.each([
    ['nothing', [0, 0]],
    ['both', [1, 1]],
  ])('what can be read is life, also a frame of %s', async (frame, counts) => {
    const open: Open = async (_, hooks) => {
      hooks.onFrame(frame, '')
      await untilAborted(hooks)
    }
    const { all } = await take(open, ({ is_alive }) => is_alive)
    expect([all.events.length, all.rejected_count]).toEqual(counts)
  })

  test('is read with the time of each frame, its number and where it is from', async () => {
    const read: unknown[] = []
    const createReader: Stream['createReader'] = () => (_, input) => {
      read.push(input)
      return { events: [], rejected: [] }
    }
    const open: Open = async (_, hooks) => {
      hooks.onFrame('a', 'here')
      hooks.onFrame('b', 'there')
      await untilAborted(hooks)
    }
    await take(open, ({ is_alive }) => is_alive, { stream: { ...STREAM, createReader } })
    expect(read).toEqual([
      { now: expect.any(Date), item: '#1', from: 'here' },
      { now: expect.any(Date), item: '#2', from: 'there' },
    ])
  })

  test('that is given up for its silence says so, whatever the connection says to it', async () => {
    const open: Open = async (_, hooks) => {
      await untilAborted(hooks)
      throw new Error('was aborted')
    }
    const { all } = await take(open, ({ problems }) => problems.length > 0, { silence_ms: 5 })
    expect(all.problems[0]?.error).toBe('nothing readable came for 0.005 s')
  })

  test('opens a connection that ended again, later each time until something readable comes', async () => {
    let opened = 0
    const open: Open = async (_, { onFrame }) => {
      opened += 1
      if (opened === 4) onFrame('at last', '')
      if (opened !== 5) throw new Error('cannot be reached')
    }
    const { all } = await take(open, ({ problems }) => problems.length >= 6)
    expect(all.problems.slice(0, 6)).toEqual(
      [5, 10, 20, 5, 10, 20].map((retry_ms, index) => ({
        connection: 'one',
        error: index === 4 ? 'the other side ended it' : 'cannot be reached',
        is_silence: false,
        retry_ms,
      })),
    )
  })

  test.each([
    ['nothing', []],
    ['garbage only', ['garbage', 'garbage']],
  ])('opens a connection again on which %s comes for its silence limit', async (_, frames) => {
    let opened = 0
    const open: Open = async (_, hooks) => {
      opened += 1
      for (const frame of frames) hooks.onFrame(frame, '')
      await untilAborted(hooks)
    }
    const { all } = await take(open, ({ problems }) => problems.length >= 2, { silence_ms: 10 })
    expect(opened).toBeGreaterThanOrEqual(2)
    expect(all.is_alive).toBe(false)
    expect(all.problems[0]).toMatchObject({
      error: 'nothing readable came for 0.01 s',
      is_silence: true,
    })
  })

  test.each([
    [true, false],
    [undefined, true],
  ])('a pong is a sign of life only where the upstream is often quiet: %s', async (quiet, ends) => {
    const open: Open = async (_, hooks) => {
      const timer = setInterval(hooks.onAlive, 5)
      await untilAborted(hooks)
      clearInterval(timer)
    }
    const stream = { ...STREAM, ...(quiet ? { is_often_quiet: true } : {}) }
    let batches = 0
    const { all } = await take(open, () => ++batches > 12, { stream, silence_ms: 40 })
    expect([all.problems.length > 0, all.is_alive]).toEqual([ends, !ends])
  })

  test('ends a connection that says it is of no use', async () => {
    const open: Open = async (_, hooks) => {
      hooks.onFrame('wrong key', '')
      hooks.onFrame('too late', '')
      if (!hooks.signal.aborted) await untilAborted(hooks)
    }
    const { all } = await take(open, ({ problems }) => problems.length > 0)
    expect(all.events).toEqual([])
    expect(all.problems[0]).toMatchObject({ error: 'the key is not valid', is_silence: false })
  })

  test('holds all connections of its feed, and one that fails does not disturb the other', async () => {
    const stream: Stream = {
      ...STREAM,
      connections: () => ['good', 'bad'].map((name) => ({ name, url: `test:${name}` })),
    }
    const open: Open = async ({ name }, hooks) => {
      if (name === 'bad') throw new Error('cannot be reached')
      hooks.onFrame('from good', '')
      await untilAborted(hooks)
    }
    const { all } = await take(open, ({ problems }) => problems.length > 1, { stream })
    expect(all.events).toHaveLength(1)
    expect(new Set(all.problems.map(({ connection }) => connection))).toEqual(new Set(['bad']))
  })

  test('is closed when nobody takes its batches any more', async () => {
    let closed = false
    const open: Open = async (_, hooks) => {
      hooks.onFrame('one', '')
      await untilAborted(hooks)
      closed = true
    }
    const { signal } = new AbortController()
    for await (const { events } of streamFeed({ stream: STREAM }, { ...FAST, open, signal })) {
      if (events.length === 1) break
    }
    expect(closed).toBe(true)
  })
})

test('where no process stays, feeds that only stream are disabled with the reason', () => {
  const { poll: _, ...rest } = usgs
  const streamed = { ...rest, source: 'streamed', stream: STREAM }
  const both = { ...usgs, source: 'both', stream: STREAM }
  const selection = withoutStreams({ feeds: [usgs, streamed, both], disabled: [] })
  expect(selection.feeds.map(({ source }) => source)).toEqual(['usgs', 'both'])
  expect(selection.disabled).toEqual([
    { feed: streamed, reason: expect.stringMatching(/^It streams, .* Run the jobs on a machine/) },
  ])
})
