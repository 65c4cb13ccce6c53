import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { createQueryClient } from '../shared/query-client.ts'
import { timeNow } from '../ui/clock.ts'
import { api, ok, type Schemas } from './client.ts'

export type Zone = Schemas['Zone']
export type Alert = Schemas['Alert']
export type MapFeature = Schemas['EventMap']['features'][number]
export type MapEvent = Schemas['MapEvent']
export type Footprint = Schemas['Footprint']
export type Track = Schemas['Track']
export type Check = Schemas['Check']
export type Channel = Schemas['Channel']
export type ChannelDelivery = Schemas['ChannelDelivery']
export type Account = Schemas['Account']
export type Org = Schemas['Org']
export type Key = Schemas['Key']
export type Member = Schemas['Member']
export type Act = Schemas['AuditRow']

export const queryClient = createQueryClient({ stale_ms: 10_000 })

/** Which sources deliver; public, and answered even without a database. */
export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: () => ok(api.GET('/api/sources/health')),
  refetchInterval: 30_000,
})

export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: () => ok(api.GET('/api/v1/account')),
  staleTime: 60_000,
})

/** The keys of the account, the newest first, page by page. */
export const keysQuery = infiniteQueryOptions({
  queryKey: ['account', 'keys'],
  queryFn: ({ pageParam }) =>
    ok(
      api.GET('/api/v1/account/keys', {
        params: { query: { limit: 50, ...(pageParam ? { cursor: pageParam } : {}) } },
      }),
    ),
  initialPageParam: '',
  getNextPageParam: ({ next_cursor }) => next_cursor,
})

/** The invites to the caller's own address. */
export const invitesQuery = queryOptions({
  queryKey: ['account', 'invites'],
  queryFn: () => ok(api.GET('/api/v1/account/invites')),
})

/** Who belongs to an organisation, and who is invited to it. */
export const membersQuery = (id: string) =>
  queryOptions({
    queryKey: ['account', 'members', id],
    queryFn: () => ok(api.GET('/api/v1/orgs/{id}/members', { params: { path: { id } } })),
  })

/** Every zone the caller can see; the pages are fetched one after the other. */
export const zonesQuery = queryOptions({
  queryKey: ['zones'],
  queryFn: async () => {
    const zones: Zone[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: { zones: Zone[]; next_cursor: string | null } = await ok(
        api.GET('/api/v1/zones', {
          params: { query: { limit: 500, geometry: 'simplified', ...(cursor ? { cursor } : {}) } },
        }),
      )
      zones.push(...page.zones)
      cursor = page.next_cursor
    }
    return zones
  },
})

/** Which events a map shows: of a type, and of at least a severity. */
export type MapFilter = { types?: Schemas['EventType']; min_severity?: number }
type View = { bbox: string; zoom: number }

const windowOf = (hours: number) => ({
  from: new Date(timeNow() - hours * 3_600_000).toISOString(),
})

/** What the map shows: the events of the last `hours`, wherever they are; up to `to` in milliseconds, if given. */
export function eventsQuery(hours: number, filter: MapFilter, view: View | null, to?: number) {
  const until = to === undefined ? {} : { to: new Date(to).toISOString() }
  return queryOptions({
    queryKey: ['events', 'map', hours, filter, view, to],
    queryFn: () =>
      ok(
        api.GET('/api/v1/events/map', {
          params: { query: { ...windowOf(hours), ...until, ...filter, ...view } },
        }),
      ),
    refetchInterval: 60_000,
    placeholderData: (before) => before,
  })
}

/** So many footprints are drawn, the newest; the rest is seen by zooming in. */
const MAX_FOOTPRINT_PAGES = 10

/** The areas and lines of those events, as far as they can be seen at the zoom. */
export function footprintsQuery(hours: number, filter: MapFilter, view: View) {
  return queryOptions({
    queryKey: ['shapes', 'footprints', hours, filter, view],
    queryFn: async ({ signal }) => {
      const features: Footprint[] = []
      const query = { ...windowOf(hours), ...filter, ...view }
      let cursor: string | null = ''
      for (let page = 0; page < MAX_FOOTPRINT_PAGES && cursor !== null; page += 1) {
        const found: Schemas['Footprints'] = await ok(
          api.GET('/api/v1/events/footprints', {
            params: { query: { ...query, ...(cursor ? { cursor } : {}) } },
            signal,
          }),
        )
        features.push(...found.features)
        cursor = found.next_cursor
      }
      return { features, isCut: cursor !== null }
    },
    refetchInterval: 60_000,
    placeholderData: (before) => before,
  })
}

/** Positions are in no list of changes. */
const POSITIONS_MS = 15_000

/** What moves there, with the way it took. */
export function tracksQuery(hours: number, filter: MapFilter, view: View) {
  return queryOptions({
    queryKey: ['shapes', 'tracks', hours, filter, view],
    queryFn: async () => {
      const query = { ...windowOf(hours), ...filter, ...view }
      return (await ok(api.GET('/api/v1/events/tracks', { params: { query } }))).tracks
    },
    refetchInterval: POSITIONS_MS,
    placeholderData: (before) => before,
  })
}

/** The whole way of one event or position; null when it has none. */
export function trackQuery(hours: number, event_id: string) {
  return queryOptions({
    queryKey: ['shapes', 'track', hours, event_id],
    queryFn: async () => {
      const query = { ...windowOf(hours), event_id }
      const { tracks } = await ok(api.GET('/api/v1/events/tracks', { params: { query } }))
      return tracks[0] ?? null
    },
    refetchInterval: POSITIONS_MS,
  })
}

/** One event with its footprint and all its revisions, the newest first. */
export const eventQuery = (id: string) =>
  queryOptions({
    queryKey: ['events', 'one', id],
    queryFn: () => ok(api.GET('/api/v1/events/{id}', { params: { path: { id } } })),
  })

/** Why an event did or did not raise an alert in a zone. */
export const explanationQuery = (id: string, event_id: string) =>
  queryOptions({
    queryKey: ['explanation', id, event_id],
    queryFn: () =>
      ok(api.GET('/api/v1/zones/{id}/explain', { params: { path: { id }, query: { event_id } } })),
  })

export type AlertFilter = {
  resolved?: 'true' | 'false'
  zone_id?: string
  min_severity?: number
  source?: string
  status?: Alert['status']
  days?: number
}

/** The alerts of a filter, the newest first, page by page. */
export const alertsQuery = (filter: AlertFilter) =>
  infiniteQueryOptions({
    queryKey: ['alerts', 'list', filter],
    queryFn: ({ pageParam }) =>
      ok(
        api.GET('/api/v1/alerts', {
          params: { query: { limit: 50, ...filter, ...(pageParam ? { cursor: pageParam } : {}) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })

export const alertQuery = (id: string) =>
  queryOptions({
    queryKey: ['alerts', 'one', id],
    queryFn: async () => {
      const answer = await ok(api.GET('/api/v1/alerts/{id}', { params: { path: { id } } }))
      if (typeof answer === 'string') throw new Error('JSON was asked for')
      return answer.alert as Alert // safe: openapi-fetch only widens the pairs of its changes
    },
  })

/** Every channel the caller can see; the pages are fetched one after the other. */
export const channelsQuery = queryOptions({
  queryKey: ['channels', 'list'],
  queryFn: async () => {
    const channels: Channel[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: { channels: Channel[]; next_cursor: string | null } = await ok(
        api.GET('/api/v1/channels', {
          params: { query: { limit: 500, ...(cursor ? { cursor } : {}) } },
        }),
      )
      channels.push(...page.channels)
      cursor = page.next_cursor
    }
    return channels
  },
})

/** What was sent to a channel, the newest first, with every attempt. */
export const channelDeliveriesQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['channels', 'deliveries', id],
    queryFn: ({ pageParam }) =>
      ok(
        api.GET('/api/v1/channels/{id}/deliveries', {
          params: {
            path: { id },
            query: { limit: 20, ...(pageParam ? { cursor: pageParam } : {}) },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })

/** One delivery of a channel, with its attempts; null when it is not kept any more. */
export const deliveryQuery = (id: string, delivery_id: string) =>
  queryOptions({
    queryKey: ['channels', 'delivery', delivery_id],
    queryFn: async () => {
      const { deliveries } = await ok(
        api.GET('/api/v1/channels/{id}/deliveries', {
          params: { path: { id }, query: { delivery_id } },
        }),
      )
      return deliveries[0] ?? null
    },
  })

export const analyticsQuery = (days: number) =>
  queryOptions({
    queryKey: ['analytics', days],
    queryFn: () => ok(api.GET('/api/v1/analytics', { params: { query: { days } } })),
    placeholderData: (before) => before,
  })

const actsOf = async (days: number, limit: number, cursor: string) => {
  const query = { days, limit, ...(cursor ? { cursor } : {}) }
  const page = await ok(api.GET('/api/v1/audit', { params: { query } }))
  return { audit: page.audit as Act[], next_cursor: page.next_cursor } // safe: not asked for as OCSF
}

/** What was done, the newest first, page by page. */
export const auditQuery = (days: number) =>
  infiniteQueryOptions({
    queryKey: ['audit', days],
    queryFn: ({ pageParam }) => actsOf(days, 100, pageParam),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })

/** allActs returns everything that was done in so many days. */
export async function allActs(days: number): Promise<Act[]> {
  const acts: Act[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { audit: Act[]; next_cursor: string | null } = await actsOf(days, 1000, cursor)
    acts.push(...page.audit)
    cursor = page.next_cursor
  }
  return acts
}

/** Who changed what in a zone; the version says when to ask again. */
export const zoneVersionsQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: ['zones', 'versions', id, version],
    queryFn: () =>
      ok(
        api.GET('/api/v1/zones/{id}/versions', { params: { path: { id }, query: { limit: 50 } } }),
      ),
  })

/** One zone as it was drawn: the list has its outline simplified. */
export const zoneQuery = (id: string) =>
  queryOptions({
    queryKey: ['zones', 'one', id],
    queryFn: async () =>
      (await ok(api.GET('/api/v1/zones/{id}', { params: { path: { id } } }))).zone as Zone, // safe: openapi-fetch only widens the pairs of its rules
  })
