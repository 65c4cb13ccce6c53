/** Lives a random history: what people did and what was seen, at its own times, days ago. */
import { randomUUID } from 'node:crypto'
import { inTransaction } from '../../../functions/db.ts'
import { AUDIENCES, type Change, type History, type SeenEvent } from '../histories.ts'
import type { TestJobs } from '../jobs.ts'
import type { Person, Service } from '../service.ts'

/** Who is in a history: the team's owner sees what is shared, the member made the zone. */
export type Cast = { team: string; chief: Person; member: Person }
export type Life = Cast & {
  zone: string
  /** Since when zone, plan and team are as they are; null: since before the history began. */
  unchanged_since: string | null
  snoozed_until: string | null
}

/** Made a month ago: people, their team and the zone, which is shared with it. */
export async function begin(service: Service, { zone, has_channel }: History): Promise<Life> {
  const [chief, member] = [await service.person(), await service.person()]
  const team = await service.organisation(chief, [member, 'member'])
  if (has_channel) {
    const body = { kind: 'webhook', target: 'https://hooks.example.com/in' }
    await service.request('POST', '/api/v1/channels', { key: member.key, body })
  }
  const made = await service.request('POST', '/api/v1/zones', {
    key: member.key,
    body: { ...zone, org_id: team },
  })
  const { id } = (made.body as { zone: { id: string } }).zone // safe: what is wrong with it fails below
  for (const table of ['zone_versions', 'account_states']) {
    await service.database.query(
      `update watchpost.${table} set valid_from = valid_from - interval '30 days'`,
    )
  }
  return { team, chief, member, zone: id, unchanged_since: null, snoozed_until: null }
}

/** What a source said, which only its audience may see. */
export async function tell(
  jobs: TestJobs,
  { team, member }: Cast,
  events: SeenEvent[],
): Promise<void> {
  const source = events[0]?.source ?? ''
  const audience = AUDIENCES[source]
  if (audience === 'everybody') return jobs.ingest(...events)
  const rows = events.map((event) => ({
    ...event,
    geometry: null,
    box: [event.lon, event.lat, event.lon, event.lat],
  }))
  const org = audience === 'team' ? team : null
  await inTransaction(
    jobs.db,
    (sql) =>
      sql`select private.ingest_events(${source}, ${JSON.stringify(rows)}::jsonb, true, ${member.user_id}, ${org})`,
  )
}

/** Makes a change, as if at its own time; false when nobody could make it then. */
export async function make(service: Service, life: Life, change: Change): Promise<boolean> {
  const [row] = await service.database.query<{ now: string }>(
    'select clock_timestamp()::text as now',
  )
  const began = row?.now
  if (!(await act(service, life, change))) return false
  for (const [table, columns] of [
    ['zone_versions', ['valid_from', 'ended_at']],
    ['account_states', ['valid_from']],
  ] as const) {
    for (const column of columns) {
      await service.database.query(
        `update watchpost.${table} set ${column} = $2 where ${column} >= $1`,
        [began, change.at],
      )
    }
  }
  life.unchanged_since = change.at
  return true
}

async function act(service: Service, life: Life, change: Change): Promise<boolean> {
  const { member, chief, team, zone } = life
  const query = (text: string, values: unknown[]) => service.database.query(text, values)
  /** By whoever may: the member, else the chief. */
  const byEither = async (method: string, path: string, body?: object) => {
    for (const { key } of [member, chief]) {
      const { status } = await service.request(method, `/api/v1${path}`, {
        key,
        ...(body ? { body } : {}),
      })
      if (status < 300) return true
    }
    return false
  }
  switch (change.what) {
    case 'edit':
      return byEither('PATCH', `/zones/${zone}`, change.patch)
    case 'snooze': {
      const until = new Date(Date.parse(change.at) + change.minutes * 60_000).toISOString()
      const done = await byEither('PATCH', `/zones/${zone}`, { snoozed_until: until })
      if (done) life.snoozed_until = until
      return done
    }
    case 'delete_or_restore':
      if (await byEither('DELETE', `/zones/${zone}`)) return true
      return byEither('POST', `/zones/${zone}/restore`)
    case 'pay_or_not':
      await query(
        `update watchpost.accounts set plan = case plan when 'free' then 'pro' else 'free' end
        where user_id = $1`,
        [member.user_id],
      )
      return true
    case 'ban':
      await query('update watchpost.accounts set banned_until = $2 where user_id = $1', [
        member.user_id,
        new Date(Date.parse(change.at) + change.minutes * 60_000).toISOString(),
      ])
      return true
    case 'leave_or_join': {
      const path = `/api/v1/orgs/${team}/members/${member.user_id}`
      if ((await service.request('DELETE', path, { key: chief.key })).status === 200) return true
      await query(
        `insert into watchpost.members (id, org_id, user_id, email, role, status, joined_at)
        values ($1, $2, $3, $4, 'member', 'active', now())`,
        [randomUUID(), team, member.user_id, member.email],
      )
      return true
    }
    case 'share_or_not': {
      for (const org_id of [null, team]) {
        const before = await versionOf(service, zone)
        if (!(await byEither('PATCH', `/zones/${zone}`, { org_id }))) return false
        if ((await versionOf(service, zone)) !== before) return true
      }
      return false
    }
  }
}

async function versionOf(service: Service, zone: string): Promise<number | undefined> {
  const [row] = await service.database.query<{ version: number }>(
    'select version from watchpost.zones where id = $1',
    [zone],
  )
  return row?.version
}
