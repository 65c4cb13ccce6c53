import { describe, expect, test } from 'vitest'
import { reliefweb } from '../../../functions/feeds/reliefweb.ts'
import type { NormalisedEvent } from '../../../shared/schemas/event.ts'
import { expectHarmless, expectRobust, normalise, upstream } from '../../support/feeds/feeds.ts'

const disaster = (over: Record<string, unknown> = {}) => {
  const { id = '52345', ...fields } = over
  return {
    id,
    score: 1,
    fields: {
      name: 'Brazil: Floods - Feb 2026',
      status: 'alert',
      glide: 'FL-2026-000012-BRA',
      url: 'https://reliefweb.int/taxonomy/term/52345',
      date: {
        event: '2026-02-20T00:00:00+00:00',
        created: '2026-02-21T08:00:00+00:00',
        changed: '2026-02-28T08:00:00+00:00',
      },
      primary_country: { name: 'Brazil', location: { lat: -10.77, lon: -53.09 } },
      primary_type: { code: 'FL', name: 'Flood' },
      ...fields,
    },
  }
}
const answer = (...data: unknown[]) => ({ totalCount: data.length, data })

async function only(over: Record<string, unknown> = {}): Promise<NormalisedEvent> {
  const { events, rejected } = await normalise(reliefweb, JSON.stringify(answer(disaster(over))))
  if (!events[0]) throw new Error(rejected[0]?.reason)
  return events[0]
}

describe('a disaster becomes an event', () => {
  test('with every field of the canonical form, and the title says that the place is a country', async () => {
    expect(await only()).toEqual({
      id: 'reliefweb:52345',
      source: 'reliefweb',
      type: 'flood',
      title: 'Brazil: Floods - Feb 2026 (centre of Brazil)',
      lat: -10.77,
      lon: -53.09,
      ts: '2026-02-20T00:00:00.000Z',
      severity: 60,
      subject: null,
      status: 'active',
      url: 'https://reliefweb.int/taxonomy/term/52345',
      geometry: null,
      ends_at: null,
      revised_at: '2026-02-28T08:00:00.000Z',
      aliases: [],
    })
  })

  test.each([
    ['alert', 60, 'active'],
    ['ongoing', 50, 'active'],
    ['Past', 10, 'ended'],
    ['new word', 50, 'active'],
    [null, 50, 'active'],
  ])('the status %s has severity %i and is %s', async (given, severity, status) => {
    expect(await only({ status: given })).toMatchObject({ severity, status })
  })

  test.each([[undefined], [null], [{}], [{ code: null }]])(
    'whose kind is %j is other',
    async (primary_type) => {
      expect((await only({ primary_type })).type).toBe('other')
    },
  )

  test.each([
    ['EQ', 'earthquake'],
    ['TC', 'storm'],
    ['tc', 'storm'],
    ['EC', 'storm'],
    ['ST', 'storm'],
    ['FL', 'flood'],
    ['FF', 'flood'],
    ['VO', 'volcano'],
    ['TS', 'tsunami'],
    ['DR', 'drought'],
    ['WF', 'wildfire'],
    ['FR', 'wildfire'],
    ['CW', 'weather'],
    ['HT', 'weather'],
  ])('of the kind %s is one of %s', async (code, type) => {
    expect((await only({ primary_type: { code } })).type).toBe(type)
  })

  test('of another kind is other; without the day of the event that of its creation counts', async () => {
    const date = { created: '2026-02-21T08:00:00+00:00' }
    expect(await only({ primary_type: { code: 'EP' }, date, url: null, id: 7 })).toMatchObject({
      id: 'reliefweb:7',
      type: 'other',
      ts: '2026-02-21T08:00:00.000Z',
      url: 'https://reliefweb.int/node/7',
      revised_at: null,
    })
  })

  test.each([
    [{ id: 'x' }, 'id'],
    [{ id: 'x12' }, 'id'],
    [{ id: '12x' }, 'id'],
    [{ name: '' }, 'name'],
    [{ date: {} }, 'ts'],
    [{ date: { event: '2026-02-20' } }, 'ts'],
    [{ primary_country: { name: 'Brazil' } }, 'location'],
    [{ primary_country: { location: { lat: 91, lon: 0 } } }, 'lat'],
  ])('%j is rejected, and the reason names the field', async (over, field) => {
    const { events, rejected } = await normalise(reliefweb, JSON.stringify(answer(disaster(over))))
    expect([events, rejected[0]?.reason]).toEqual([[], expect.stringContaining(field)])
  })
})

test('what is no disaster is named by its id, or by its place in the list', async () => {
  const text = JSON.stringify(answer(disaster({ name: '' }), { id: 8 }, { id: '' }, null))
  const { rejected } = await normalise(reliefweb, text)
  expect(rejected.map(({ item }) => item)).toEqual(['52345', '8', '#3', '#4'])
})

describe('polling', () => {
  const settings = { RELIEFWEB_APPNAME: 'approved-name' }
  const at = (hour: number) => new Date(Date.UTC(2026, 2, 1, hour)).toISOString()

  test('asks by its name for what changed since the last time, oldest first', async () => {
    const world = upstream(reliefweb, () => ({ json: answer(disaster()) }), settings)
    await world.poll(at(12))
    const query = () => world.asked[0]?.url.searchParams
    expect(query()?.get('appname')).toBe('approved-name')
    expect(query()?.get('limit')).toMatch(/^\d+$/)
    expect(query()?.get('filter[field]')).toBe('date.changed')
    expect(query()?.get('sort[]')).toBe('date.changed:asc')
    expect(query()?.getAll('fields[include][]')).toEqual([
      ...['name', 'status', 'glide', 'date', 'primary_country', 'primary_type', 'url'],
    ])
    expect(query()?.get('filter[value][from]')).toBe('2025-12-01T12:00:00+00:00')
    await world.poll(at(13))
    expect(query()?.get('filter[value][from]')).toBe('2026-02-28T07:00:00+00:00')
    world.answer = () => ({ json: answer() })
    await world.poll(at(14))
    expect(world.state).toEqual({ changed_after: '2026-02-28T08:00:00.000Z' })
  })

  test('an answer that is as it was changes nothing', async () => {
    const world = upstream(reliefweb, () => ({ json: answer(disaster()) }), settings)
    expect(await world.poll(at(12))).toMatchObject({ not_modified: false })
    const { state } = world
    world.answer = () => ({ status: 304 })
    expect(await world.poll(at(13))).toEqual({
      ...{ events: [], rejected: [], state, not_modified: true },
    })
  })

  test('without a name it asks under none, and is refused by the service', async () => {
    const asked: string[] = []
    const fetch: typeof globalThis.fetch = async (url) => {
      asked.push(String(url))
      return new Response('', { status: 403 })
    }
    const polled = reliefweb.poll({ state: {}, now: new Date(at(12)), fetch })
    await expect(polled).rejects.toMatchObject({ status: 403 })
    expect(new URL(asked[0] ?? '').searchParams.get('appname')).toBe('')
  })

  test('the latest change counts, wherever it stands', async () => {
    const changed = ['09', '11', '10'].map((hour) =>
      disaster({
        date: { created: '2026-02-21T08:00:00+00:00', changed: `2026-02-28T${hour}:00:00+00:00` },
      }),
    )
    const world = upstream(reliefweb, () => ({ json: answer(...changed, {}) }), settings)
    expect((await world.poll(at(12))).rejected).toHaveLength(1)
    expect(world.state).toEqual({ changed_after: '2026-02-28T11:00:00.000Z' })
  })

  test('a change in the future does not hide those after it; a damaged state starts afresh', async () => {
    const world = upstream(reliefweb, () => ({ json: answer() }), settings)
    const from = () => world.asked[0]?.url.searchParams.get('filter[value][from]')
    world.state = { changed_after: '2126-01-01T00:00:00.000Z' }
    await world.poll(at(12))
    expect(from()).toBe('2026-03-01T11:00:00+00:00')
    world.state = { changed_after: 7 }
    await world.poll(at(12))
    expect(from()).toBe('2025-12-01T12:00:00+00:00')
  })

  test.each([
    ['a name that is not approved', { status: 403 }, { status: 403 }],
    [
      'a rate limit',
      { status: 429, headers: { 'retry-after': '90' } },
      { retry_after_seconds: 90 },
    ],
    ['a web page', { body: '<html>' }, { code: 'not_json' }],
    ['an empty body', { body: '' }, { code: 'not_json' }],
    [
      'other JSON',
      { json: {} },
      { code: 'not_json', message: 'answered with JSON without a list of data' },
    ],
  ])('%s is a FeedError, and the state is kept', async (_, reply, error) => {
    const world = upstream(reliefweb, () => ({ json: answer(disaster()) }), settings)
    await world.poll(at(12))
    const { state } = world
    world.answer = () => reply
    await expect(world.poll(at(13))).rejects.toMatchObject(error)
    expect(world.state).toEqual(state)
  })
})

test('broken answers do no harm', async () => {
  await expectHarmless(reliefweb, JSON.stringify(answer(disaster(), disaster())))
  await expectRobust(reliefweb, answer(disaster(), disaster()))
})
