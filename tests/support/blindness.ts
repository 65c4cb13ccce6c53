import { expect } from 'vitest'
import { z } from 'zod'
import type { Feed } from '../../functions/feeds/feed.ts'
import { registerFeeds } from '../../functions/jobs/ingest.ts'
import { ChannelDelivery } from '../../shared/schemas/channel.ts'
import { BlindMessage, SightedMessage } from '../../shared/schemas/webhook.ts'
import { CreatedZone, type DeliveryService } from './delivery-service.ts'
import { type Person, parsed } from './service.ts'

/** feed is a feed that answers nothing new. */
export function feed(source: string, given: Partial<Feed> = {}): Feed {
  return {
    source,
    title: `Feed ${source}`,
    attribution: 'Somebody',
    types: ['earthquake'],
    interval_seconds: 60,
    poll: async ({ state }) => ({ events: [], state, not_modified: true, rejected: [] }),
    ...given,
  }
}

const Message = z.union([BlindMessage, SightedMessage])
const Page = z.object({ deliveries: z.array(ChannelDelivery) })
/** tell is what the channel `/in` hears when these zones are blind. */
export const tell = (...labels: string[]) => [{ to: '/in', type: 'zone.blind', zones: labels }]

/** watchOf lets the feeds of a service fail and come back, and says what its channels heard of it. */
export function watchOf(at: () => DeliveryService) {
  /** Registers feeds that are all well. */
  async function given(...feeds: Feed[]) {
    await registerFeeds(at().jobs.db, feeds)
    await set({ last_success_at: 'now()', created_at: `now() - interval '1 day'` })
  }
  const set = (columns: Record<string, string>, source = '%') =>
    at().query(
      `update watchpost.sources set ${Object.entries(columns).map(([name, value]) => `${name} = ${value}`)}
    where source like $1`,
      [source],
    )
  const fail = (source: string) =>
    set(
      { last_success_at: `now() - interval '1 hour'`, error: `'It broke.'`, error_at: 'now()' },
      source,
    )
  const heal = (source: string) =>
    set({ last_success_at: 'now()', error: 'null', error_at: 'null' }, source)
  const look = () => at().query('select private.watch_sources() as told')
  const later = (minutes: number) =>
    at().query(
      `update watchpost.blindness set began_at = began_at - make_interval(mins => $1),
      well_at = well_at - make_interval(mins => $1)`,
      [minutes],
    )

  /** The feed fails for longer than its limit, and everybody hears of it. */
  async function goBlind(source = 'usgs') {
    await fail(source)
    await look()
    await later(15)
    await look()
    await at().jobs.drain()
  }
  async function comeBack(source = 'usgs') {
    await heal(source)
    await look()
    await later(5)
    await look()
    await at().jobs.drain()
  }

  const heard = () =>
    at().service.receiver.requests.map(({ url, body }) => {
      const { type, data } = Message.parse(JSON.parse(body))
      return { to: new URL(url).pathname, type, zones: data.zones.map(({ label }) => label), data }
    })
  const told = () => heard().map(({ to, type, zones }) => ({ to, type, zones }))

  let places = 0
  async function zoneOf(who: Person, label: string, fields: object = {}) {
    places += 1
    const body = { label, lat: 1, lon: places / 100, ...fields }
    return (await at().make(who, 'zones', body, CreatedZone)).zone.id
  }
  const channelTo = async (who: Person, name: string, fields: object = {}) =>
    (await at().channelOf(who, { target: `https://hooks.example.com/${name}`, ...fields })).id
  const patch = async (who: Person, path: string, body: object) =>
    expect((await at().service.request('PATCH', `/api/v1/${path}`, { ...who, body })).status).toBe(
      200,
    )

  async function deliveriesOf(who: Person, channel: string) {
    const answer = await at().service.request('GET', `/api/v1/channels/${channel}/deliveries`, who)
    return parsed(answer, 200, Page).deliveries
  }

  return {
    given,
    set,
    fail,
    heal,
    look,
    later,
    goBlind,
    comeBack,
    heard,
    told,
    zoneOf,
    channelTo,
    patch,
    deliveriesOf,
  }
}
