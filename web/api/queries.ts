import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { createQueryClient } from '../shared/query-client.ts'
import { api, ok, type Schemas } from './client.ts'

export type Zone = Schemas['Zone']
export type Alert = Schemas['Alert']
export type MapFeature = Schemas['EventMap']['features'][number]
export type MapEvent = Schemas['MapEvent']
export type Check = Schemas['Check']
export type Channel = Schemas['Channel']
export type ChannelDelivery = Schemas['ChannelDelivery']

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

/** What the map shows: the events of the last `hours`, wherever they are. */
export function eventsQuery(hours: number, view: { bbox: string; zoom: number } | null) {
  return queryOptions({
    queryKey: ['events', 'map', hours, view],
    queryFn: () => {
      const to = Date.now()
      const from = new Date(to - hours * 3_600_000).toISOString()
      return ok(api.GET('/api/v1/events/map', { params: { query: { from, ...view } } }))
    },
    refetchInterval: 60_000,
    placeholderData: (before) => before,
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
