import { randomUUID } from 'node:crypto'
import type { TestDatabase } from '../support/servers/database.ts'

/** Who acts; `reader` is the owner with a key that may only read, `nobody` has no claims at all. */
export const ACTORS = ['owner', 'admin', 'member', 'stranger', 'reader', 'nobody', 'anon'] as const
export type Actor = (typeof ACTORS)[number]
export type World = { ids: Record<string, string>; claims: Record<Actor, string> }

/** How each table's rows are told apart: by a word that stands in them. */
export const TAGS: Record<string, string> = {
  accounts: 'email',
  alert_events: 'reason',
  alert_steps: '(select a.zone_name from watchpost.alerts a where a.id = alert_id)',
  alerts: 'zone_name',
  api_keys: 'name',
  audit: 'action',
  channels: 'label',
  deliveries: 'last_error',
  delivery_attempts: 'error',
  event_revisions: 'title',
  evidence: 'record',
  feed_links: 'label',
  events: 'title',
  key_usage: '(select k.name from watchpost.api_keys k where k.id = key_id)',
  members: 'email',
  organisations: 'name',
  positions: 'title',
  visibility_changes: 'id',
  zone_shapes: "polygon ->> 'tag'",
  zone_versions: "definition ->> 'label'",
  zones: 'label',
}

/** What an update sets, in tables whose rows a caller may change in part. */
export const CHANGES: Record<string, string> = {
  feed_links: 'token_hash = sha256(gen_random_uuid()::text::bytea)',
  alerts: "note = 'changed'",
  channels: 'failures = 7',
  members: "role = 'admin', invite_expires_at = now()",
  zones: "icon = 'changed'",
}

const FOOT = `2, 1, box '(2,1),(2,1)'`

/**
 * Two tenants: `owner`, who shares an organisation with `admin` and `member`, and `stranger`. Rows
 * are private (the owner's), shared (in the organisation), foreign (the stranger's) or public; a mixed
 * delivery is of a shared alert to a private channel, and a blind one is about a private and a shared zone, to
 * the shared channel.
 */
export async function createWorld(database: TestDatabase): Promise<World> {
  const names = ['owner', 'admin', 'member', 'stranger', 'team', 'theirs']
  const ids = Object.fromEntries(names.map((name) => [name, randomUUID()]))
  const id = (name: string) => `'${ids[name]}'::uuid`
  // tag, owner, organisation
  const kept = `(values ('private', ${id('owner')}, null::uuid), ('shared', ${id('owner')}, ${id('team')}),
    ('foreign', ${id('stranger')}, null)) as k (tag, owner, org)`
  const heard = `(values ('public', null::uuid, null::uuid), ('private', ${id('owner')}, null),
    ('shared', ${id('owner')}, ${id('team')}), ('foreign', ${id('stranger')}, null)) as k (tag, owner, org)`
  const sent = `(values ('private', 'private', 'private'), ('shared', 'shared', 'shared'),
    ('mixed', 'shared', 'private'), ('foreign', 'foreign', 'foreign')) as k (tag, alert, channel)`
  // Without triggers: they would write rows of their own.
  await database.query(`begin; set local session_replication_role = replica;
    insert into watchpost.accounts (user_id, email, plan) values
      (${id('owner')}, 'owner', 'pro'), (${id('admin')}, 'admin', 'pro'),
      (${id('member')}, 'member', 'pro'), (${id('stranger')}, 'stranger', 'pro');
    insert into watchpost.organisations (id, name) values (${id('team')}, 'shared'), (${id('theirs')}, 'foreign');
    insert into watchpost.members (org_id, user_id, email, role, status, invite_hash) values
      (${id('team')}, ${id('owner')}, 'owner@team', 'owner', 'active', null),
      (${id('team')}, ${id('admin')}, 'admin@team', 'admin', 'active', null),
      (${id('team')}, ${id('member')}, 'member@team', 'member', 'active', null),
      (${id('team')}, null, 'invited@team', 'member', 'invited', sha256('team')),
      (${id('theirs')}, ${id('stranger')}, 'stranger@theirs', 'owner', 'active', null),
      (${id('theirs')}, null, 'invited@theirs', 'member', 'invited', sha256('theirs'));
    insert into watchpost.account_states (user_id, plan, org_ids) values
      (${id('owner')}, 'pro', array[${id('team')}]), (${id('admin')}, 'pro', array[${id('team')}]),
      (${id('member')}, 'pro', array[${id('team')}]), (${id('stranger')}, 'pro', array[${id('theirs')}]);
    insert into watchpost.api_keys (user_id, name, prefix, key_hash, scopes)
      select owner, tag, 'wp_live_', sha256(tag::bytea), array['read'] from ${kept} where org is null;
    insert into watchpost.key_usage (key_id, last_used_at) select id, now() from watchpost.api_keys;
    insert into watchpost.audit (account_id, action, target_type)
      select owner, tag, 'zone' from ${kept} where org is null;
    insert into watchpost.zones (owner_id, org_id, label, lat, lon, boxes)
      select owner, org, tag, 1, 2, array[box '(3,2),(1,0)'] from ${kept};
    insert into watchpost.feed_links (zone_id, owner_id, label, token_hash)
      select id, owner_id, label, sha256(label::bytea) from watchpost.zones;
    insert into watchpost.zone_boxes (zone_id, part, box, min_severity) select id, 1, boxes[1], 40 from watchpost.zones;
    insert into watchpost.zone_shapes (zone_id, hash, polygon, bytes)
      select id, sha256('the same shape of everybody'), jsonb_build_object('tag', label), 1 from watchpost.zones;
    insert into watchpost.zone_versions (zone_id, version, definition, shape_hash)
      select id, 1, to_jsonb(z), sha256('the same shape of everybody') from watchpost.zones z;
    insert into watchpost.match_memory (zone_id, key, memory) select id, 'key', '{}' from watchpost.zones;
    insert into watchpost.channels (owner_id, org_id, kind, label, target_sealed, target_masked)
      select owner, org, 'webhook', tag, 'sealed', 'masked' from ${kept};
    insert into watchpost.alerts (zone_id, zone_name, owner_id, org_id, event_id, source, event, severity,
        reason, first_reason, status, raised_at, checks, zone_version, event_revision)
      select z.id, k.tag, k.owner, k.org, 'test:public', 'test', '{}', 50, 'reason', 'reason', 'dispatched', now(), '[]', 1, 1
      from ${kept} join watchpost.zones z on z.label = k.tag;
    insert into watchpost.alert_events (zone_id, event_id, alert_id, source, event, event_revision, checks, reason,
        zone_version, added_at)
      select zone_id, 'other:public', id, 'other', '{}', 1, '[]', zone_name, 1, now() from watchpost.alerts;
    insert into watchpost.evidence_keys (kid, public_jwk, private_sealed) values ('key', '{}', 'sealed');
    insert into watchpost.evidence (alert_id, number, record, read_at, is_settled, frozen_at)
      select id, 1, zone_name, now(), true, now() from watchpost.alerts;
    insert into watchpost.operator_sessions (operator, link_hash, expires_at) values ('operator', sha256('link'), now());
    insert into watchpost.operator_acts (operator, via, action, target_type) values ('operator', 'page', 'a.b', 'a');
    insert into watchpost.evidence_due (alert_id) select id from watchpost.alerts;
    insert into watchpost.alert_steps (alert_id, round, step, after_minutes, began_at, due_at)
      select id, 0, 1, 10, now(), now() from watchpost.alerts;
    insert into watchpost.deliveries (alert_id, channel_id, type, last_error)
      select a.id, c.id, 'alert.raised', k.tag
      from ${sent} join watchpost.alerts a on a.zone_name = k.alert join watchpost.channels c on c.label = k.channel;
    insert into watchpost.blindness (source, status, reason) values ('test', 'down', 'It broke.');
    insert into watchpost.blind_zones (blindness_id, channel_id, zone_id)
      select b.id, c.id, z.id from watchpost.blindness b, watchpost.channels c, watchpost.zones z
      where c.label = 'shared' and z.label in ('private', 'shared');
    insert into watchpost.deliveries (blindness_id, channel_id, type, last_error)
      select distinct blindness_id, channel_id, 'zone.blind', 'blind' from watchpost.blind_zones;
    insert into watchpost.channel_troubles (channel_id, status, reason, began_at)
      select id, 'failing', 'It fails.', now() from watchpost.channels where label = 'foreign';
    insert into watchpost.drills (zone_id, created_by, event, ignores_quiet_hours, escalates)
      select id, owner_id, '{}', false, false from watchpost.zones;
    insert into watchpost.alerts (zone_id, zone_name, owner_id, org_id, event_id, source, event, severity,
        reason, first_reason, status, raised_at, checks, zone_version, event_revision, drill_id)
      select z.id, 'drill', z.owner_id, z.org_id, 'drill:' || d.id, 'drill', '{}', 50, 'reason', 'reason', 'dispatched',
        now(), '[]', 1, 1, d.id
      from watchpost.drills d join watchpost.zones z on z.id = d.zone_id where z.label <> 'foreign';
    insert into watchpost.deliveries (alert_id, channel_id, type, last_error)
      select a.id, c.id, 'alert.raised', 'drill'
      from watchpost.alerts a join watchpost.channels c on c.owner_id = a.owner_id where a.drill_id is not null;
    insert into watchpost.hosts (kind, host) values ('webhook', 'hooks.example.com');
    insert into watchpost.source_hours (source, hour, items, rejected) values ('test', now(), 2, 1);
    insert into watchpost.delivery_attempts (delivery_id, attempt, outcome, duration_ms, error)
      select id, 1, 'retry', 1, last_error from watchpost.deliveries;
    insert into watchpost.sources (source, title, attribution, types, interval_seconds)
      values ('test', 'Test', 'a test', '{other}', 60) on conflict do nothing;
    insert into watchpost.batches (source, size) values ('test', 1);
    insert into watchpost.events (id, source, type, title, ts, severity, status, lon, lat, extent, owner_id, org_id)
      select 'test:' || tag, 'test', 'other', tag, now(), 50, 'active', ${FOOT}, owner, org from ${heard};
    insert into watchpost.event_aliases (alias, event_id) select id || '-alias', id from watchpost.events;
    insert into watchpost.event_revisions (event_id, revision, first_seen_at, source, type, title, ts, severity,
        status, lon, lat, extent, tenant_id)
      select 'test:' || tag, 1, now(), 'test', 'other', tag, now(), 50, 'active', ${FOOT}, coalesce(org, owner)
      from ${heard};
    insert into watchpost.positions (event_id, first_seen_at, source, type, title, ts, severity, subject,
        status, lon, lat, extent, tenant_id)
      select 'test:p-' || tag, now(), 'test', 'vessel', tag, now(), 0, 'mmsi:1', 'active', ${FOOT}, coalesce(org, owner)
      from ${heard};
    insert into watchpost.visibility_changes (audience, thing, id)
      select coalesce(org, owner, '00000000-0000-0000-0000-000000000000'), 'event', tag from ${heard};
    insert into watchpost.idempotency_keys (user_id, route, key, request_hash, status, resource_id)
      select owner, 'POST /', tag, sha256('x'), 201, 'x' from ${kept};
    insert into watchpost.rate_limits (bucket, tat) values ('account:' || ${id('owner')}, now());
    insert into watchpost.rate_denials (request_id) values (gen_random_uuid());
    commit`)
  const claims = (name: string, scopes: string[]) => JSON.stringify({ sub: ids[name], scopes })
  return {
    ids,
    claims: {
      owner: claims('owner', ['read', 'write']),
      admin: claims('admin', ['read', 'write']),
      member: claims('member', ['read', 'write']),
      stranger: claims('stranger', ['read', 'write']),
      reader: claims('owner', ['read']),
      nobody: '',
      anon: '',
    },
  }
}
