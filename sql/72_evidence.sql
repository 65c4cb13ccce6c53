-- Evidence: what is known of an alert in one signed record, made when the alert settles and before any of it is purged.
--
--   touched ──it settles──▶ a record, signed ──something new──▶ the next record
-- A record takes over what the one before it holds and has been purged since, so the newest says everything.

set role watchpost_owner;

create table watchpost.evidence_keys (
  kid text primary key check (length(kid) between 1 and 100),
  public_jwk jsonb not null,
  private_sealed text,
  created_at timestamptz not null default now(),
  retired_at timestamptz,
  withdrawn_from timestamptz,
  withdrawn_at timestamptz,
  withdrawn_reason text check (length(withdrawn_reason) between 1 and 500),
  check ((private_sealed is null) = (retired_at is not null)),
  constraint evidence_keys_withdrawn check (
    num_nulls(withdrawn_from, withdrawn_at, withdrawn_reason) in (0, 3) and (withdrawn_at is null or retired_at is not null))
);
comment on table watchpost.evidence_keys is 'The keys that sign evidence: one signs, and the public ones are kept for good, so that what they signed can be checked.';
comment on column watchpost.evidence_keys.private_sealed is 'The private key, sealed by the jobs with SEAL_KEYS; null once it is retired.';
comment on column watchpost.evidence_keys.withdrawn_from is 'Since when somebody else may have signed with it; null: nobody is known to.';
comment on column watchpost.evidence_keys.withdrawn_at is 'When an operator withdrew it.';
create unique index evidence_keys_one_signs on watchpost.evidence_keys ((true)) where retired_at is null;
alter table watchpost.evidence_keys enable row level security;
alter table watchpost.evidence_keys force row level security;

create table watchpost.evidence (
  alert_id uuid not null references watchpost.alerts on delete cascade,
  number integer not null check (number > 0),
  record text not null,
  kid text references watchpost.evidence_keys,
  signature text,
  read_at timestamptz not null,
  is_settled boolean not null,
  frozen_at timestamptz not null,
  primary key (alert_id, number),
  check ((kid is null) = (signature is null))
);
comment on table watchpost.evidence is 'Records of alerts, never changed but for the deletion of a person. Kept as long as their alert; the last five of each.';
comment on column watchpost.evidence.record is 'Canonical JSON (RFC 8785): the bytes that are signed.';
comment on column watchpost.evidence.signature is 'Ed25519, in base64url; null: not signed yet.';
comment on column watchpost.evidence.read_at is 'What it says was read then; read once more and found the same, it is the later time.';
comment on column watchpost.evidence.is_settled is 'Whether the alert was settled; if not, it was made because something was about to be purged.';
create index evidence_kid on watchpost.evidence (kid);
create index evidence_unsigned on watchpost.evidence (frozen_at) where signature is null;
alter table watchpost.evidence enable row level security;
alter table watchpost.evidence force row level security;
create policy evidence_select on watchpost.evidence for select to authenticated
  using (exists (select from watchpost.alerts a where a.id = alert_id));
grant select on watchpost.evidence to authenticated;

create table watchpost.evidence_due (
  alert_id uuid primary key references watchpost.alerts on delete cascade,
  look_at timestamptz not null default now(),
  token uuid not null default gen_random_uuid()
);
comment on table watchpost.evidence_due is 'Alerts that may have settled, or changed since: their record is to be made.';
comment on column watchpost.evidence_due.token is 'Of the last change, so that a record that was made without it does not forget it.';
comment on column watchpost.evidence_due.look_at is 'When to look at it next.';
create index evidence_due_look_at on watchpost.evidence_due (look_at);
alter table watchpost.evidence_due enable row level security;
alter table watchpost.evidence_due force row level security;

-- Whether nothing is to be expected of an alert: somebody resolved it or its event is over.
create function private.is_over(a watchpost.alerts) returns boolean
language sql immutable set search_path = '' as $$
  select a.resolved or coalesce(a.updates -> -1 ->> 'kind' in ('ended', 'retracted'), false)
$$;
grant execute on function private.is_over to authenticated;

-- The messages of an alert, and the digests that carry some of them.
create function private.messages_of(p_alert_id uuid) returns setof watchpost.deliveries
language sql stable set search_path = '' as $$
  select d.* from watchpost.deliveries d
  where d.id in (
    select own.id from watchpost.deliveries own where own.alert_id = p_alert_id
    union
    select own.digest_id from watchpost.deliveries own where own.alert_id = p_alert_id and own.digest_id is not null)
$$;

-- Settled: it is over, and none of its messages is on its way.
create function private.is_settled(a watchpost.alerts) returns boolean
language sql stable set search_path = '' as $$
  select private.is_over(a) and a.status not in ('pending', 'held') and not exists (
    select from private.messages_of(a.id) d where d.status in ('queued', 'held', 'sending'))
$$;

create function private.note_evidence_due(p_alert_id uuid) returns void
language sql volatile set search_path = '' as $$
  insert into watchpost.evidence_due (alert_id) values (p_alert_id)
  on conflict (alert_id) do update set look_at = now(), token = gen_random_uuid()
$$;

-- Security definer, both: the triggers that note which alerts may have settled, or say something new since.
create function private.note_alert_evidence() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  perform private.note_evidence_due(new.id);
  return null;
end
$$;
-- The condition is private.is_over without a call, because every alert that is delivered changes its status.
create trigger alerts_evidence after update of resolved, note, seen_at, updates, status on watchpost.alerts
  for each row when (
    new.drill_id is null
    and (new.resolved or old.resolved
      or new.updates -> -1 ->> 'kind' in ('ended', 'retracted') or old.updates -> -1 ->> 'kind' in ('ended', 'retracted'))
    and (old.resolved <> new.resolved or old.status <> new.status or old.updates <> new.updates
      or old.note is distinct from new.note or old.seen_at is distinct from new.seen_at))
  execute function private.note_alert_evidence();

create function private.note_redelivery_evidence() returns trigger
language plpgsql security definer set search_path = '' as $$
begin
  perform private.note_evidence_due(a.id)
  from watchpost.alerts a where a.id = new.alert_id and a.drill_id is null and private.is_over(a);
  return null;
end
$$;
create trigger deliveries_evidence after insert on watchpost.deliveries
  for each row when (new.redelivery_of is not null) execute function private.note_redelivery_evidence();

-- What is known of an alert. Nothing that is a secret, or names a channel or an address: a record outlives the rights
-- that its reader has today.
create function private.evidence_facts(p_alert_id uuid) returns jsonb
language sql stable set search_path = '' as $$
  with told as (
    select a.event_id, a.source, a.event, null::jsonb as link, a.raised_at as at, a.zone_version, a.first_reason as reason, a.checks
    from watchpost.alerts a where a.id = p_alert_id
    union all
    select m.event_id, m.source, m.event, m.link, m.added_at, m.zone_version, m.reason, m.checks
    from watchpost.alert_events m where m.alert_id = p_alert_id
  ), acts as (
    -- One row of several where several accounts are concerned.
    select min(l.seq) as first, jsonb_build_object(
      'at', private.iso(min(l.at)), 'actor_id', l.actor_id, 'action', l.action, 'outcome', l.outcome,
      'request_id', l.request_id) as act
    from watchpost.alerts a
    join watchpost.audit l on l.target_type = 'alert' and l.target_id = p_alert_id::text
    where a.id = p_alert_id
      and l.account_id in (
        select a.owner_id union all select m.user_id from watchpost.members m where m.org_id = a.org_id
        union all select l.actor_id)
    group by l.xid, l.actor_id, l.action, l.outcome, l.request_id
  )
  select jsonb_build_object(
    'read_at', private.iso(now()),
    'settled', private.is_settled(a),
    'alert', jsonb_build_object(
      'id', a.id, 'zone_id', a.zone_id, 'zone_name', a.zone_name, 'event_id', a.event_id, 'source', a.source,
      'attribution', private.attribution_among((select private.attributions()), a.source), 'subject', a.subject,
      'event', private.stored_event(a.event),
      'current', (select c.event from private.current_event(a.event_id, coalesce(a.current, a.event)) c),
      'severity', a.severity, 'reason', a.reason, 'status', a.status, 'raised_at', private.iso(a.raised_at),
      'held_until', private.iso(a.held_until), 'dispatched_at', private.iso(a.dispatched_at), 'updates', a.updates,
      'resolved', a.resolved, 'resolved_at', private.iso(a.resolved_at), 'resolved_by', a.resolved_by,
      'resolved_via', a.resolved_via, 'seen_at', private.iso(a.seen_at), 'seen_by', a.seen_by, 'seen_via', a.seen_via,
      'note', a.note),
    'decisions', (
      select jsonb_agg(jsonb_build_object(
        'event_id', t.event_id, 'source', t.source, 'at', private.iso(t.at), 'zone_version', t.zone_version,
        'reason', t.reason, 'checks', t.checks, 'link', t.link) order by t.at, t.event_id)
      from told t),
    'zone_versions', coalesce((
      select jsonb_agg(jsonb_build_object(
        'version', v.version, 'valid_from', private.iso(v.valid_from),
        'definition', private.version_definition(v) - 'channel_ids' - 'escalation' - 'owner_id' - 'org_id') order by v.version)
      from watchpost.zone_versions v
      where v.zone_id = a.zone_id and v.version in (select t.zone_version from told t)), '[]'),
    'revisions', coalesce((
      select jsonb_agg(r.revision order by r.event_id, r.nr)
      from (
        select r.event_id, r.revision as nr, jsonb_build_object(
          'event_id', r.event_id, 'revision', r.revision, 'first_seen_at', private.iso(r.first_seen_at),
          'source', r.source, 'type', r.type, 'title', r.title, 'lat', r.lat, 'lon', r.lon, 'ts', private.iso(r.ts),
          'severity', r.severity, 'subject', r.subject, 'status', r.status, 'url', r.url,
          'magnitude', r.magnitude, 'depth_km', r.depth_km, 'ends_at', private.iso(r.ends_at), 'geometry', r.geometry) as revision
        from watchpost.event_revisions r
        where r.event_id in (select t.event_id from told t)
          -- An event that somebody sent is shown to those it was sent to.
          and (r.tenant_id is null or r.tenant_id in (a.owner_id, a.tenant_id))
        order by r.first_seen_at desc
        limit 1000) r), '[]'),
    'deliveries', coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', d.id, 'channel_id', d.channel_id, 'channel_kind', c.kind, 'type', d.type, 'sequence', d.sequence,
        'status', d.status, 'created_at', private.iso(d.created_at), 'delivered_at', private.iso(d.delivered_at),
        'redelivery_of', d.redelivery_of, 'digest_id', d.digest_id,
        'cancelled_because', case when d.status = 'cancelled' then d.last_error end,
        'attempts', coalesce((
          select jsonb_agg(jsonb_build_object(
            'attempt', t.attempt, 'at', private.iso(t.at), 'outcome', t.outcome, 'status_code', t.status_code,
            'duration_ms', t.duration_ms) order by t.attempt)
          from watchpost.delivery_attempts t where t.delivery_id = d.id), '[]')) order by d.created_at, d.id)
      from private.messages_of(a.id) d
      join watchpost.channels c on c.id = d.channel_id), '[]'),
    'revision_count', (
      select count(*) from watchpost.event_revisions r
      where r.event_id in (select t.event_id from told t) and (r.tenant_id is null or r.tenant_id in (a.owner_id, a.tenant_id))),
    'audit', coalesce((
      select jsonb_agg(g.act order by g.first) from (select * from acts order by first limit 1000) g), '[]'),
    'audit_count', (select count(*) from acts))
  from watchpost.alerts a
  where a.id = p_alert_id
$$;

-- Security definer: channels, keys and logs of others are not the caller's to see. Answers the facts of an alert that
-- the caller sees, and its last record; no row for any other.
create function private.my_evidence(p_alert_id uuid)
returns table (facts jsonb, is_due boolean, number integer, record text, kid text, signature text)
language sql stable security definer set search_path = '' as $$
  select private.evidence_facts(a.id), exists (select from watchpost.evidence_due d where d.alert_id = a.id),
    e.number, e.record, e.kid, e.signature
  from watchpost.alerts a
  left join lateral (
    select * from watchpost.evidence e where e.alert_id = a.id order by e.number desc limit 1) e on true
  where a.id = p_alert_id and a.drill_id is null and a.tenant_id = any(private.my_tenants())
$$;
grant execute on function private.my_evidence to authenticated;

-- Security definer: the public keys are everybody's, the table is nobody's.
create function private.evidence_public_keys()
returns table (
  kid text, public_jwk jsonb, created_at timestamptz, retired_at timestamptz, withdrawn_from timestamptz, withdrawn_reason text
)
language sql stable security definer set search_path = '' as $$
  select k.kid, k.public_jwk, k.created_at, k.retired_at, k.withdrawn_from, k.withdrawn_reason from watchpost.evidence_keys k order by k.created_at desc, k.kid
$$;
grant execute on function private.evidence_public_keys to watchpost_api;

-- Security definer, all that follow: the jobs write none of these tables in any other way.
create function private.evidence_signing_key() returns table (kid text, private_sealed text)
language sql stable security definer set search_path = '' as $$
  select k.kid, k.private_sealed from watchpost.evidence_keys k where k.retired_at is null
$$;

-- If two processes make one at once, the first is kept.
create function private.add_evidence_key(p_kid text, p_private_sealed text, p_public_jwk jsonb) returns void
language sql volatile security definer set search_path = '' as $$
  insert into watchpost.evidence_keys (kid, private_sealed, public_jwk) values (p_kid, p_private_sealed, p_public_jwk)
  on conflict do nothing
$$;

-- Alerts that may have settled. One that has not is forgotten until it changes; one with messages on their way is
-- looked at again in ten seconds, and one with a record not before that is an hour old.
create function private.settled_alerts(p_limit integer) returns table (alert_id uuid, token uuid)
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_due record;
begin
  for v_due in
    select d.alert_id, d.token, private.is_over(a) as is_over, private.is_settled(a) as is_settled,
      (select max(e.frozen_at) + interval '1 hour' from watchpost.evidence e where e.alert_id = a.id and e.is_settled) as not_before
    from watchpost.evidence_due d
    join watchpost.alerts a on a.id = d.alert_id
    where d.look_at <= now()
    order by d.look_at, d.alert_id
    limit p_limit
    for update of d skip locked
  loop
    if not v_due.is_over then
      delete from watchpost.evidence_due d where d.alert_id = v_due.alert_id;
    elsif not v_due.is_settled or v_due.not_before > now() then
      update watchpost.evidence_due d
      set look_at = greatest(now() + interval '10 seconds', v_due.not_before)
      where d.alert_id = v_due.alert_id;
    else
      alert_id := v_due.alert_id;
      token := v_due.token;
      return next;
    end if;
  end loop;
end
$$;

-- Whether the last record of an alert holds what happened then. Of a message that was not on its way any more all
-- attempts were known; of an event, what was first seen a minute before at the latest.
create function private.holds_attempt(p_alert_id uuid, p_at timestamptz) returns boolean
language sql stable set search_path = '' as $$
  select coalesce((
    select p_at <= e.read_at - case when e.is_settled then interval '0' else interval '1 hour' end
    from watchpost.evidence e where e.alert_id = p_alert_id order by e.number desc limit 1), false)
$$;
create function private.holds_revision(p_alert_id uuid, p_at timestamptz) returns boolean
language sql stable set search_path = '' as $$
  select coalesce((
    select p_at <= e.read_at - interval '1 minute'
    from watchpost.evidence e where e.alert_id = p_alert_id order by e.number desc limit 1), false)
$$;

-- The alerts whose records do not hold this attempt, or this revision, yet.
create function private.wants_attempt(t watchpost.delivery_attempts) returns setof uuid
language sql stable set search_path = '' as $$
  select a.id
  from watchpost.alerts a
  where a.drill_id is null and a.id in (
      select d.alert_id from watchpost.deliveries d where d.id = t.delivery_id
      union
      select d.alert_id from watchpost.deliveries d where d.digest_id = t.delivery_id)
    and not private.holds_attempt(a.id, t.at)
$$;
create function private.wants_revision(p_event_id text, p_at timestamptz) returns setof uuid
language sql stable set search_path = '' as $$
  select a.id
  from watchpost.alerts a
  where a.drill_id is null and a.id in (
      select o.id from watchpost.alerts o where o.event_id = p_event_id
      union
      select m.alert_id from watchpost.alert_events m where m.event_id = p_event_id)
    and not private.holds_revision(a.id, p_at)
$$;

-- What a record is made of: the facts, and the record before.
create function private.evidence_sources(p_alert_id uuid) returns table (facts jsonb, number integer, record text)
language sql stable security definer set search_path = '' as $$
  select private.evidence_facts(a.id), e.number, e.record
  from watchpost.alerts a
  left join lateral (
    select * from watchpost.evidence e where e.alert_id = a.id order by e.number desc limit 1) e on true
  where a.id = p_alert_id and a.drill_id is null
$$;

-- Keeps a record, unless another process was first. p_record null: the last one says the same. p_read_at: when the facts
-- were read. p_token: the change that made it due; a later one stays due.
create function private.keep_evidence(
  p_alert_id uuid, p_number integer, p_record text, p_kid text, p_signature text, p_read_at timestamptz,
  p_is_settled boolean, p_token uuid
)
returns void
language plpgsql volatile security definer set search_path = '' as $$
begin
  if p_record is null then
    update watchpost.evidence
    set read_at = greatest(read_at, p_read_at), is_settled = is_settled or p_is_settled
    where alert_id = p_alert_id and number = p_number;
  else
    insert into watchpost.evidence (alert_id, number, record, kid, signature, read_at, is_settled, frozen_at)
    select a.id, p_number, p_record, p_kid, p_signature, p_read_at, p_is_settled, p_read_at
    from watchpost.alerts a where a.id = p_alert_id
    on conflict (alert_id, number) do nothing;
    -- The record of whoever was first may lack the change: it stays due.
    if not found then
      return;
    end if;
    delete from watchpost.evidence where alert_id = p_alert_id and number <= p_number - 5;
  end if;
  delete from watchpost.evidence_due where alert_id = p_alert_id and token = p_token and p_is_settled;
end
$$;

create function private.unsigned_evidence(p_limit integer) returns table (alert_id uuid, number integer, record text)
language sql stable security definer set search_path = '' as $$
  select e.alert_id, e.number, e.record from watchpost.evidence e where e.signature is null order by e.frozen_at limit p_limit
$$;

-- Only where the record is still the one that was signed.
create function private.sign_evidence(p_alert_id uuid, p_number integer, p_record text, p_kid text, p_signature text) returns void
language sql volatile security definer set search_path = '' as $$
  update watchpost.evidence set kid = p_kid, signature = p_signature
  where alert_id = p_alert_id and number = p_number and signature is null and record = p_record
$$;
grant execute on function private.evidence_signing_key, private.add_evidence_key, private.settled_alerts, private.evidence_sources,
  private.keep_evidence, private.unsigned_evidence, private.sign_evidence to watchpost_jobs;

-- Replaces a person who is deleted in the records of alerts that they acted on. They are signed anew.
create function private.erase_from_evidence(p_user_id uuid, p_pseudonym uuid) returns void
language sql volatile set search_path = '' as $$
  update watchpost.evidence e
  set record = replace(e.record, p_user_id::text, p_pseudonym::text), kid = null, signature = null
  where e.alert_id in (
      select a.id from watchpost.alerts a where p_user_id in (a.resolved_by, a.seen_by)
      union
      select l.target_id::uuid from watchpost.audit l
      where p_user_id in (l.actor_id, l.account_id) and l.target_type = 'alert')
    and e.record like '%' || p_user_id || '%'
$$;

reset role;
