import type { Sql } from '../../shared/sql.ts'

export type Week = {
  /** The Monday of the week, in UTC. */
  week: string
  new: number
  contacted: number
  replied: number
  won: number
  lost: number
  won_sums: { currency: string; amount: number }[]
  lost_sums: { currency: string; amount: number }[]
}

/**
 * pipelineByWeek counts, for each of the last weeks, leads that were added, that came to a stage for the
 * first time, and deals that were decided and still are; amounts by currency. Leads that were imported in
 * a later stage count as added only: nobody knows when they came there.
 */
export function pipelineByWeek(sql: Sql, project_id: string, weeks: number): Promise<Week[]> {
  return sql<Week>`
    with bounds as (
      select date_trunc('week', now(), 'UTC') - make_interval(weeks => ${weeks - 1}) as start
    ),
    reached as (
      select lead_id, details ->> 'to' as stage, min(at) as at
      from hub.activities
      where project_id = ${project_id} and kind = 'stage'
        and details ->> 'to' in ('contacted', 'replied')
      group by 1, 2
    ),
    things as (
      select 'new' as kind, created_at as at, null::text as currency, null::numeric as amount
      from hub.leads where project_id = ${project_id}
      union all
      select stage, at, null, null from reached
      union all
      select stage, closed_at, case when amount is not null then currency end, amount
      from hub.leads
      where project_id = ${project_id} and stage in ('won', 'lost') and closed_at is not null
    ),
    counted as (
      select (date_trunc('week', at, 'UTC') at time zone 'utc')::date as week, kind, currency,
        count(*)::int as count, sum(amount)::float8 as amount
      from things, bounds
      where at >= bounds.start
      group by 1, 2, 3
    )
    select day::date as week,
      coalesce(sum(count) filter (where kind = 'new'), 0)::int as new,
      coalesce(sum(count) filter (where kind = 'contacted'), 0)::int as contacted,
      coalesce(sum(count) filter (where kind = 'replied'), 0)::int as replied,
      coalesce(sum(count) filter (where kind = 'won'), 0)::int as won,
      coalesce(sum(count) filter (where kind = 'lost'), 0)::int as lost,
      coalesce(
        jsonb_agg(jsonb_build_object('currency', currency, 'amount', amount) order by currency)
          filter (where kind = 'won' and currency is not null), '[]') as won_sums,
      coalesce(
        jsonb_agg(jsonb_build_object('currency', currency, 'amount', amount) order by currency)
          filter (where kind = 'lost' and currency is not null), '[]') as lost_sums
    from bounds
    cross join lateral generate_series(
      (bounds.start at time zone 'utc')::date,
      (date_trunc('week', now(), 'UTC') at time zone 'utc')::date, interval '1 week'
    ) as weeks (day)
    left join counted on counted.week = weeks.day::date
    group by 1
    order by 1`
}

/** The upper ends of the parts of the distribution, in hours; the last part has none. */
export const REPLY_HOURS = [1, 4, 24, 72, 168, null] as const

export type ReplyTimes = {
  replies: number
  median_hours: number | null
  parts: { up_to_hours: number | null; count: number }[]
}

/** replyTimes measures how long leads took to answer a mail, from its sending to their first reply. */
export async function replyTimes(sql: Sql, project_id: string): Promise<ReplyTimes> {
  const rows = await sql<{ hours: number }>`
    select extract(epoch from replied_at - sent_at)::float8 / 3600 as hours
    from hub.recipients
    where project_id = ${project_id} and sent_at is not null and replied_at >= sent_at
    order by 1`
  const all = rows.map(({ hours }) => hours)
  return { replies: all.length, median_hours: medianOf(all), parts: partsOf(all) }
}

/** The middle of sorted numbers; null of none. */
export function medianOf(sorted: number[]): number | null {
  const at = (sorted.length - 1) / 2
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return low === undefined || high === undefined ? null : Math.round((low + high) * 50) / 100
}

/** How many are in each part of the distribution; an upper end belongs to its part. */
export function partsOf(hours: number[]): ReplyTimes['parts'] {
  let from = -1
  return REPLY_HOURS.map((up_to_hours) => {
    const to = up_to_hours ?? Number.POSITIVE_INFINITY
    const count = hours.filter((one) => one > from && one <= to).length
    from = to
    return { up_to_hours, count }
  })
}

export type AgentShare = {
  mails: {
    all: number
    by_agents: number
    as_written: number
    edited: number
    rejected: number
    undecided: number
  }
  documents: { by_agents: number; edited: number }
}

/**
 * agentShare counts what agents wrote and what became of it: mails, however many people get each, and
 * sequences, each once with all its steps, because it is written and approved as one. Each of an agent is
 * in one part: rejected, approved as it was written, approved after a person edited it, or not decided yet.
 */
export async function agentShare(sql: Sql, project_id: string): Promise<AgentShare> {
  const [mails] = await sql<AgentShare['mails']>`
    select count(*)::int as all,
      count(*) filter (where agent is not null)::int as by_agents,
      count(*) filter (where fate = 'as_written')::int as as_written,
      count(*) filter (where fate = 'edited')::int as edited,
      count(*) filter (where fate = 'rejected')::int as rejected,
      count(*) filter (where fate = 'undecided')::int as undecided
    from (
      select agent, case
        when agent is null then null
        when state = 'rejected' then 'rejected'
        when state in ('draft', 'rendered') then 'undecided'
        when edited_at is not null then 'edited'
        else 'as_written'
      end as fate
      from (
        select agent, state, edited_at from hub.drafts
        where project_id = ${project_id} and sequence_id is null
        union all
        select agent, state, edited_at from hub.sequences where project_id = ${project_id}
      ) as written
    ) as mail`
  const [documents] = await sql<AgentShare['documents']>`
    select
      coalesce(sum(jsonb_array_length(
        case when jsonb_typeof(result -> 'documents') = 'array' then result -> 'documents' else '[]' end
      )), 0)::int as by_agents,
      (
        select count(distinct (mission_id, part))::int from hub.result_versions
        where project_id = ${project_id} and part <> 'summary' and edited_by <> 'agent'
      ) as edited
    from hub.missions
    where project_id = ${project_id} and status = 'done'`
  return {
    mails: mails ?? {
      all: 0,
      by_agents: 0,
      as_written: 0,
      edited: 0,
      rejected: 0,
      undecided: 0,
    },
    documents: documents ?? { by_agents: 0, edited: 0 },
  }
}
