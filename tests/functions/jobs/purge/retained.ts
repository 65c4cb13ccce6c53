/** What goes with time, and what stays all the same: the rows that the tests of retention let age. */

const EVENT = `'test', 'earthquake', 'M 5', 1, 2, 50, 'active', box '(2,1),(2,1)'`
const EVENT_COLUMNS = 'source, type, title, lat, lon, severity, status, extent'
const ZONE = `gen_random_uuid(), gen_random_uuid(), 'A zone', 1, 2, array[box '(3,2),(1,0)']`
const CHANNEL = `gen_random_uuid(), gen_random_uuid(), 'webhook', 'sealed', 'masked'`

export type Limit = {
  table: string
  /** What of it, where not everything goes with its age. */
  what?: string
  keep: string
  /** A row of that age: $1 is the moment, $2 a name of its own. */
  insert: string
  /** The row of `retention` that says how long, where one does. */
  thing?: string
}

/** Every table from which something goes with time, and after how long. */
export const LIMITS: Limit[] = [
  {
    table: 'event_revisions',
    keep: '100 days',
    thing: 'event_revisions',
    insert: `(event_id, revision, first_seen_at, ts, ${EVENT_COLUMNS}) values ($2, 1, $1, now(), ${EVENT})`,
  },
  {
    table: 'events',
    keep: '90 days',
    thing: 'events',
    insert: `(id, ts, updated_at, ${EVENT_COLUMNS}) values ($2, $1, $1, ${EVENT})`,
  },
  {
    table: 'events',
    what: 'that are over',
    keep: '90 days',
    thing: 'events',
    insert: `(id, ts, updated_at, ends_at, ${EVENT_COLUMNS})
      values ($2, $1, $1, now() - interval '1 second', ${EVENT})`,
  },
  {
    table: 'batches',
    what: 'that were matched',
    keep: '7 days',
    insert: `(source, size, created_at, matched_at) values ($2, 1, $1, now())`,
  },
  {
    table: 'delivery_attempts',
    keep: '30 days',
    thing: 'delivery_attempts',
    insert: `(delivery_id, attempt, at, outcome, duration_ms, error) values (gen_random_uuid(), 1, $1, 'ok', 1, $2)`,
  },
  {
    table: 'alerts',
    keep: '400 days',
    thing: 'alerts',
    insert: `(zone_id, zone_name, owner_id, event_id, source, event, severity, reason, first_reason, status,
        raised_at, checks, zone_version, event_revision)
      values (gen_random_uuid(), 'A zone', gen_random_uuid(), $2, 'test', '{}', 50, '', '', 'recorded', $1, '[]', 1, 1)`,
  },
  {
    table: 'deliveries',
    what: 'of a test',
    keep: '400 days',
    thing: 'alerts',
    insert: `(channel_id, type, status, created_at, last_error)
      values (gen_random_uuid(), 'channel.test', 'succeeded', $1, $2)`,
  },
  {
    table: 'audit',
    keep: '400 days',
    thing: 'audit',
    insert: `(account_id, at, action, target_type) values (gen_random_uuid(), $1, $2, 'zone')`,
  },
  {
    table: 'match_memory',
    keep: '100 days',
    thing: 'event_revisions',
    insert: `(zone_id, key, memory, updated_at) values (gen_random_uuid(), $2, '{}', $1)`,
  },
  {
    table: 'zones',
    what: 'that were deleted',
    keep: '30 days',
    thing: 'deleted',
    insert: `(id, owner_id, label, lat, lon, boxes, deleted_at, icon) values (${ZONE}, $1, left($2, 32))`,
  },
  {
    table: 'channels',
    what: 'that were deleted',
    keep: '30 days',
    thing: 'deleted',
    insert: `(id, owner_id, kind, target_sealed, target_masked, deleted_at, label) values (${CHANNEL}, $1, $2)`,
  },
  {
    table: 'positions_default',
    keep: '48 hours',
    thing: 'positions',
    insert: `(event_id, ts, first_seen_at, subject, ${EVENT_COLUMNS}) values ($2, $1, now(), 'mmsi:1', ${EVENT})`,
  },
  {
    table: 'passing_positions',
    keep: '48 hours',
    thing: 'positions',
    insert: `(batch_id, event_id, ts, first_seen_at, subject, ${EVENT_COLUMNS})
      values (gen_random_uuid(), $2, $1, now(), 'mmsi:1', ${EVENT})`,
  },
  {
    table: 'idempotency_keys',
    keep: '24 hours',
    insert: `(user_id, route, key, request_hash, status, resource_id, created_at)
      values (gen_random_uuid(), 'POST /', $2, '', 201, '', $1)`,
  },
  {
    table: 'api_keys',
    what: 'that were revoked',
    keep: '400 days',
    thing: 'audit',
    insert: `(user_id, name, prefix, key_hash, scopes, revoked_at)
      values (gen_random_uuid(), $2, 'wp_live_', sha256($2::bytea), '{read}', $1)`,
  },
  {
    table: 'sign_in_links',
    what: 'that have expired',
    keep: '0 seconds',
    insert: `(token_hash, user_id, expires_at) values (sha256($2::bytea), gen_random_uuid(), $1)`,
  },
  {
    table: 'operator_sessions',
    what: 'that have expired',
    keep: '0 seconds',
    insert: `(operator, link_hash, expires_at) values ('operator', sha256($2::bytea), $1)`,
  },
  {
    table: 'operator_acts',
    keep: '400 days',
    thing: 'audit',
    insert: `(operator, via, action, target_type, target_id, at) values ('operator', 'page', 'a.b', 'a', $2, $1)`,
  },
  {
    table: 'refresh_tokens',
    what: 'that were used',
    keep: '30 days',
    insert: `(token_hash, session_id, used_at) values (sha256($2::bytea), gen_random_uuid(), $1)`,
  },
  {
    table: 'sessions',
    keep: '30 days',
    insert: `(id, user_id, refreshed_at) values (md5($2)::uuid, gen_random_uuid(), $1)`,
  },
  {
    table: 'hosts',
    what: 'that nothing was sent to',
    keep: '7 days',
    insert: `(kind, host, updated_at) values ('webhook', $2, $1)`,
  },
  {
    table: 'channel_troubles',
    what: 'that ended',
    keep: '400 days',
    thing: 'alerts',
    insert: `(channel_id, status, reason, began_at, ended_at)
      values (gen_random_uuid(), 'failing', $2, '-infinity', $1)`,
  },
  {
    table: 'blindness',
    what: 'that ended',
    keep: '400 days',
    thing: 'alerts',
    insert: `(source, status, reason, began_at, ended_at) values ($2, 'down', '', '-infinity', $1)`,
  },
  {
    table: 'visibility_changes',
    keep: '30 days',
    thing: 'changes',
    insert: `(audience, thing, id, at) values (gen_random_uuid(), 'alert', $2, $1)`,
  },
  {
    table: 'zone_changes',
    keep: '1 day',
    insert: `(zone_id, at) values (md5($2)::uuid, $1)`,
  },
  {
    table: 'mainshocks',
    keep: '220 days',
    thing: 'mainshocks',
    insert: `(event_id, first_seen_at, ts, lat, lon, magnitude, counts) values ($2, now(), $1, 1, 2, 6, true)`,
  },
  {
    table: 'rate_denials',
    keep: '10 minutes',
    insert: `(request_id, at) values (md5($2)::uuid, $1)`,
  },
  {
    table: 'rate_limits',
    keep: '10 minutes',
    insert: `(bucket, tat) values ($2, $1)`,
  },
]

/** What is as old as it gets and stays all the same. */
export const KEPT: (Limit & { what: string })[] = [
  {
    table: 'events',
    what: 'that a feed still tells of',
    keep: '90 days',
    insert: `(id, ts, updated_at, ${EVENT_COLUMNS}) values ($2, $1, now(), ${EVENT})`,
  },
  {
    table: 'events',
    what: 'that were told of late',
    keep: '90 days',
    insert: `(id, ts, updated_at, ${EVENT_COLUMNS}) values ($2, now(), $1, ${EVENT})`,
  },
  {
    table: 'events',
    what: 'that still stand',
    keep: '90 days',
    insert: `(id, ts, updated_at, ends_at, ${EVENT_COLUMNS})
      values ($2, $1, $1, now() + interval '1 hour', ${EVENT})`,
  },
  {
    table: 'batches',
    what: 'that nobody has matched yet',
    keep: '7 days',
    insert: `(source, size, created_at) values ($2, 1, $1)`,
  },
  {
    table: 'deliveries',
    what: 'of an alert that is kept',
    keep: '400 days',
    insert: `(alert_id, channel_id, type, created_at, last_error)
      values (gen_random_uuid(), gen_random_uuid(), 'alert.raised', $1, $2)`,
  },
  {
    table: 'refresh_tokens',
    what: 'that nobody has used',
    keep: '30 days',
    insert: `(token_hash, session_id, created_at) values (sha256($2::bytea), gen_random_uuid(), $1)`,
  },
  {
    table: 'zones',
    what: 'that nobody has deleted',
    keep: '30 days',
    insert: `(id, owner_id, label, lat, lon, boxes, created_at, icon) values (${ZONE}, $1, left($2, 32))`,
  },
  {
    table: 'zones',
    what: 'deleted, of which an alert still tells',
    keep: '30 days',
    insert: `(id, owner_id, label, lat, lon, boxes, deleted_at, icon) values (${ZONE}, $1, left($2, 32));
      insert into watchpost.alerts (zone_id, zone_name, owner_id, event_id, source, event, severity, reason,
        first_reason, status, raised_at, checks, zone_version, event_revision)
      select id, '', owner_id, 'x', 'test', '{}', 50, '', '', 'recorded', now(), '[]', 1, 1 from watchpost.zones`,
  },
  {
    table: 'channel_troubles',
    what: 'that go on',
    keep: '400 days',
    insert: `(channel_id, status, reason, began_at) values (gen_random_uuid(), 'failing', $2, $1)`,
  },
  {
    table: 'blindness',
    what: 'that goes on',
    keep: '400 days',
    insert: `(source, status, reason, began_at) values ($2, 'down', '', $1)`,
  },
  {
    table: 'channels',
    what: 'deleted, of which a delivery still tells',
    keep: '30 days',
    insert: `(id, owner_id, kind, target_sealed, target_masked, deleted_at, label) values (${CHANNEL}, $1, $2);
      insert into watchpost.deliveries (channel_id, type, status) select id, 'channel.test', 'failed' from watchpost.channels`,
  },
]
