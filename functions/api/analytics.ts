import { z } from 'zod'
import { createRoute, jsonResponse, resource, respond } from '../../shared/route.ts'
import { integerParameter } from '../../shared/schemas/page.ts'
import { can } from '../auth.ts'
import type { Env } from '../context.ts'
import { problems } from '../http.ts'
import { read } from '../transaction.ts'

const Count = z.int().min(0)
const MAX_ZONES = 20

const Analytics = z
  .object({
    days: z.int(),
    zones: z.object({
      total: Count,
      active: Count.meta({ description: 'Zones that are enabled.' }),
      shared: Count.meta({ description: 'Zones that are shared with an organisation.' }),
    }),
    channels: z.object({ total: Count, enabled: Count }),
    alerts_window: Count.meta({ description: 'Alerts in the window that were not suppressed.' }),
    alerts_resolved: Count.meta({ description: 'How many of them are resolved now.' }),
    alerts_by_source: z.array(z.object({ source: z.string(), count: Count })),
    alerts_by_day: z.array(z.object({ day: z.iso.date(), count: Count })).meta({
      description: 'Every UTC day of the window, oldest first, including days without alerts.',
    }),
    alerts_by_zone: z
      .array(z.object({ zone_id: z.uuid(), zone: z.string(), count: Count }))
      .meta({ description: `The ${MAX_ZONES} zones with the most alerts.` }),
    resolve_seconds: z.object({ p50: z.number().nullable(), p95: z.number().nullable() }).meta({
      description: 'Seconds from when an alert was raised until it was resolved; null without one.',
    }),
    deliveries: z.object({
      succeeded: Count,
      failed: Count.meta({ description: 'Failed or expired deliveries. Tests are not counted.' }),
    }),
  })
  .meta({ id: 'Analytics' })
type Analytics = z.infer<typeof Analytics>

/** What is counted over the alerts of the window, which are read once. */
type AlertCounts = Analytics['resolve_seconds'] & {
  total: number
  resolved: number
  by_source: Analytics['alerts_by_source']
  by_day: Record<string, number>
  by_zone: Analytics['alerts_by_zone']
}

export const analytics = resource<Env>()

analytics.openapi(
  createRoute({
    method: 'get',
    path: '/',
    operationId: 'getAnalytics',
    tags: ['Account'],
    summary: 'Count the zones, channels, alerts and deliveries that the caller owns or shares',
    security: [{ key: [] }],
    middleware: can('read'),
    request: {
      query: z.strictObject({
        days: integerParameter(
          1,
          365,
          30,
          'The window in days: today and the days before it, in UTC.',
        ),
      }),
    },
    responses: { 200: jsonResponse(Analytics, 'The numbers.'), ...problems() },
  }),
  async (c) => {
    const { days } = c.req.valid('query')
    const [[zones], [channels], [alerts], calendar, [deliveries]] = await read(c, (sql) =>
      Promise.all([
        sql<Analytics['zones']>`
          select count(*) as total, count(*) filter (where enabled) as active, count(org_id) as shared
          from watchpost.zones
          where tenant_id = any(private.my_tenants()) and deleted_at is null`,
        sql<Analytics['channels']>`
          select count(*) as total, count(*) filter (where enabled) as enabled
          from watchpost.channels
          where tenant_id = any(private.my_tenants()) and deleted_at is null`,
        // Each tenant's alerts by themselves: from an array of tenants Postgres cannot tell how few they are, and may
        // read everybody's alerts of the window instead.
        sql<AlertCounts>`
          with a as materialized (
            select found.*
            from unnest(private.my_tenants()) as mine (tenant)
            cross join lateral (
              select source, resolved, zone_id, raised_at at time zone 'UTC' as at,
                extract(epoch from resolved_at - raised_at)::float8 as seconds
              from watchpost.alerts
              where tenant_id = mine.tenant
                and status <> 'suppressed'
                and raised_at >= (select private.window_start(${days}))
                and raised_at < (select private.window_start(0))
              offset 0
            ) as found
          ),
          sources as (select source, count(*) as count from a group by source),
          days as (select to_char(at, 'YYYY-MM-DD') as day, count(*) as count from a group by 1),
          zones as (
            select n.zone_id, z.label as zone, n.count
            from (
              select zone_id, count(*) as count from a
              group by zone_id
              order by count(*) desc, zone_id
              limit ${MAX_ZONES}
            ) as n
            join watchpost.zones z on z.id = n.zone_id
          )
          select count(*) as total, count(*) filter (where resolved) as resolved,
            (select coalesce(jsonb_agg(sources order by count desc, source collate "C"), '[]') from sources) as by_source,
            (select coalesce(jsonb_object_agg(day, count), '{}') from days) as by_day,
            (select coalesce(jsonb_agg(zones order by count desc, zone_id), '[]') from zones) as by_zone,
            percentile_cont(0.5) within group (order by seconds) as p50,
            percentile_cont(0.95) within group (order by seconds) as p95
          from a`,
        sql<{ day: string }>`
          select to_char(private.window_start(n) at time zone 'UTC', 'YYYY-MM-DD') as day
          from generate_series(${days}::integer, 1, -1) as n`,
        sql<Analytics['deliveries']>`
          select count(*) filter (where d.status = 'succeeded') as succeeded,
            count(*) filter (where d.status in ('failed', 'expired')) as failed
          from watchpost.channels c
          join watchpost.deliveries d on d.channel_id = c.id
          where c.tenant_id = any(private.my_tenants())
            and d.type <> 'channel.test'
            and d.created_at >= (select private.window_start(${days}))`,
      ]),
    )
    if (!zones || !channels || !alerts || !deliveries) throw new Error('a count answered no row')
    return respond(
      c,
      Analytics,
      {
        days,
        zones,
        channels,
        alerts_window: alerts.total,
        alerts_resolved: alerts.resolved,
        alerts_by_source: alerts.by_source,
        alerts_by_day: calendar.map(({ day }) => ({ day, count: alerts.by_day[day] ?? 0 })),
        alerts_by_zone: alerts.by_zone,
        resolve_seconds: { p50: alerts.p50, p95: alerts.p95 },
        deliveries,
      },
      200,
    )
  },
)
