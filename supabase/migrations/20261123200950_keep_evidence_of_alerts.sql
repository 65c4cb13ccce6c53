set role watchpost_owner;
set check_function_bodies = off;

create table watchpost.evidence_keys (
  kid text primary key check (length(kid) between 1 and 100),
  public_jwk jsonb not null,
  private_sealed text,
  created_at timestamptz not null default now(),
  retired_at timestamptz,
  check ((private_sealed is null) = (retired_at is not null))
);
comment on table watchpost.evidence_keys is 'The keys that sign evidence: one signs, and the public ones are kept for good, so that what they signed can be checked.';
comment on column watchpost.evidence_keys.private_sealed is 'The private key, sealed by the jobs with SEAL_KEYS; null once it is retired.';
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
alter table watchpost.evidence_due enable row level security;
alter table watchpost.evidence_due force row level security;

CREATE OR REPLACE FUNCTION private.add_evidence_key(p_kid text, p_private_sealed text, p_public_jwk jsonb)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
  insert into watchpost.evidence_keys (kid, private_sealed, public_jwk) values (p_kid, p_private_sealed, p_public_jwk)
  on conflict do nothing
$function$;

grant execute on function private.add_evidence_key(text,text,jsonb) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.attempts_kept_since()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select least(private.kept_since('delivery_attempts'), now() - interval '48 hours')
$function$;

CREATE OR REPLACE FUNCTION private.erase_account(p_user_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_pseudonym uuid := gen_random_uuid();
  v_proved text;
  v_org uuid;
  v_heir uuid;
  v_shared uuid[];
begin
  select case when confirmed_at is not null then lower(email) end into v_proved
  from watchpost.accounts where user_id = p_user_id for update;
  if not found then
    return;
  end if;
  for v_org in select org_id from watchpost.members where user_id = p_user_id and role = 'owner' loop
    select user_id into v_heir
    from watchpost.members
    where org_id = v_org and status = 'active' and user_id <> p_user_id
    order by role = 'admin' desc, joined_at, id
    limit 1;
    if found then
      perform private.move_ownership(v_org, v_heir);
    else
      delete from watchpost.organisations where id = v_org;
    end if;
  end loop;
  -- Not those of another person with the same address, nor those for an address that was never confirmed.
  delete from watchpost.members
  where lower(email) = v_proved and status = 'invited' and not exists (
    select from watchpost.accounts where lower(email) = v_proved and user_id <> p_user_id);
  v_shared := array(
    select z.id from watchpost.zones z
    where z.org_id in (select unnest(s.org_ids) from watchpost.account_states s where s.user_id = p_user_id));
  perform private.erase_from_evidence(p_user_id, v_pseudonym);
  -- Before the account itself is deleted, whose foreign keys would clear the sender of the invites that become void.
  delete from watchpost.members where user_id = p_user_id;
  perform private.record_audit('account.deleted', 'account', p_user_id::text, array[p_user_id]);
  delete from watchpost.accounts where user_id = p_user_id;

  -- The history of things that passed on would show whose they were.
  update watchpost.zone_versions
  set definition = replace(definition::text, p_user_id::text, v_pseudonym::text)::jsonb,
      changes = replace(changes::text, p_user_id::text, v_pseudonym::text)::jsonb,
      actor_id = case when actor_id = p_user_id then v_pseudonym else actor_id end
  where zone_id = any(v_shared)
    and (actor_id = p_user_id or concat(definition, changes) like '%' || p_user_id || '%');
  update watchpost.account_states set user_id = v_pseudonym where user_id = p_user_id;
  -- Its own log first, then its traces in the logs of others.
  update watchpost.audit
  set account_id = v_pseudonym,
      actor_id = case when actor_id = p_user_id then v_pseudonym else actor_id end,
      target_id = case when target_id = p_user_id::text then v_pseudonym::text else target_id end,
      ip = null, user_agent = null,
      details = replace((details - 'label' - 'changed')::text, p_user_id::text, v_pseudonym::text)::jsonb
  where account_id = p_user_id;
  update watchpost.audit
  set actor_id = v_pseudonym,
      target_id = case when target_id = p_user_id::text then v_pseudonym::text else target_id end,
      ip = null, user_agent = null,
      details = replace(details::text, p_user_id::text, v_pseudonym::text)::jsonb
  where actor_id = p_user_id and actor_id <> account_id;
end
$function$;

CREATE OR REPLACE FUNCTION private.erase_from_evidence(p_user_id uuid, p_pseudonym uuid)
 RETURNS void
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  update watchpost.evidence e
  set record = replace(e.record, p_user_id::text, p_pseudonym::text), kid = null, signature = null
  where e.alert_id in (
      select a.id from watchpost.alerts a where p_user_id in (a.resolved_by, a.seen_by)
      union
      select l.target_id::uuid from watchpost.audit l
      where p_user_id in (l.actor_id, l.account_id) and l.target_type = 'alert')
    and e.record like '%' || p_user_id || '%'
$function$;

CREATE OR REPLACE FUNCTION private.evidence_facts(p_alert_id uuid)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  with told as (
    select a.event_id, a.source, a.event, null::jsonb as link, a.raised_at as at, a.zone_version, a.first_reason as reason, a.checks
    from watchpost.alerts a where a.id = p_alert_id
    union all
    select m.event_id, m.source, m.event, m.link, m.added_at, m.zone_version, m.reason, m.checks
    from watchpost.alert_events m where m.alert_id = p_alert_id
  )
  select jsonb_build_object(
    'read_at', private.iso(now()),
    'settled', private.is_settled(a),
    'alert', jsonb_build_object(
      'id', a.id, 'zone_id', a.zone_id, 'zone_name', a.zone_name, 'event_id', a.event_id, 'source', a.source,
      'attribution', private.attribution(a.source), 'subject', a.subject,
      'event', private.stored_event(a.event),
      'current', private.current_event(a.event_id, coalesce(a.current, a.event)),
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
      -- One row of several where several accounts are concerned.
      select jsonb_agg(g.act order by g.first)
      from (
        select min(l.seq) as first, jsonb_build_object(
          'at', private.iso(min(l.at)), 'actor_id', l.actor_id, 'action', l.action, 'outcome', l.outcome,
          'request_id', l.request_id) as act
        from watchpost.audit l
        where l.target_type = 'alert' and l.target_id = p_alert_id::text
          and l.account_id in (
            select a.owner_id union all select m.user_id from watchpost.members m where m.org_id = a.org_id
            union all select l.actor_id)
        group by l.xid, l.actor_id, l.action, l.outcome, l.request_id
        order by 1
        limit 1000) g), '[]'))
  from watchpost.alerts a
  where a.id = p_alert_id
$function$;

CREATE OR REPLACE FUNCTION private.evidence_public_keys()
 RETURNS TABLE(kid text, public_jwk jsonb, created_at timestamp with time zone, retired_at timestamp with time zone)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select k.kid, k.public_jwk, k.created_at, k.retired_at from watchpost.evidence_keys k order by k.created_at desc, k.kid
$function$;

grant execute on function private.evidence_public_keys() to watchpost_api;

CREATE OR REPLACE FUNCTION private.evidence_signing_key()
 RETURNS TABLE(kid text, private_sealed text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select k.kid, k.private_sealed from watchpost.evidence_keys k where k.retired_at is null
$function$;

grant execute on function private.evidence_signing_key() to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.evidence_sources(p_alert_id uuid)
 RETURNS TABLE(facts jsonb, number integer, record text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select private.evidence_facts(a.id), e.number, e.record
  from watchpost.alerts a
  left join lateral (
    select * from watchpost.evidence e where e.alert_id = a.id order by e.number desc limit 1) e on true
  where a.id = p_alert_id and a.drill_id is null
$function$;

grant execute on function private.evidence_sources(uuid) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.expiring_alerts(p_limit integer)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select id from (
    (select w.id
    from watchpost.delivery_attempts t
    cross join lateral private.wants_attempt(t) as w (id)
    where t.at < private.attempts_kept_since()
    order by t.at
    limit p_limit)
    union
    (select w.id
    from watchpost.event_revisions r
    cross join lateral private.wants_revision(r.event_id, r.first_seen_at) as w (id)
    where r.first_seen_at < private.kept_since('event_revisions')
    order by r.first_seen_at
    limit p_limit)) expiring (id)
  limit p_limit
$function$;

grant execute on function private.expiring_alerts(integer) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.holds_attempt(p_alert_id uuid, p_at timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select coalesce((
    select p_at <= e.read_at - case when e.is_settled then interval '0' else interval '1 hour' end
    from watchpost.evidence e where e.alert_id = p_alert_id order by e.number desc limit 1), false)
$function$;

CREATE OR REPLACE FUNCTION private.holds_revision(p_alert_id uuid, p_at timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select coalesce((
    select p_at <= e.read_at - interval '1 minute'
    from watchpost.evidence e where e.alert_id = p_alert_id order by e.number desc limit 1), false)
$function$;

CREATE OR REPLACE FUNCTION private.is_over(a watchpost.alerts)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select a.resolved or coalesce(a.updates -> -1 ->> 'kind' in ('ended', 'retracted'), false)
$function$;

grant execute on function private.is_over(watchpost.alerts) to authenticated;

CREATE OR REPLACE FUNCTION private.is_settled(a watchpost.alerts)
 RETURNS boolean
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select private.is_over(a) and a.status not in ('pending', 'held') and not exists (
    select from private.messages_of(a.id) d where d.status in ('queued', 'held', 'sending'))
$function$;

CREATE OR REPLACE FUNCTION private.keep_evidence(p_alert_id uuid, p_number integer, p_record text, p_kid text, p_signature text, p_read_at timestamp with time zone, p_is_settled boolean, p_token uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
    delete from watchpost.evidence where alert_id = p_alert_id and number <= p_number - 5;
  end if;
  delete from watchpost.evidence_due where alert_id = p_alert_id and token = p_token and p_is_settled;
end
$function$;

grant execute on function private.keep_evidence(uuid,integer,text,text,text,timestamp with time zone,boolean,uuid) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.messages_of(p_alert_id uuid)
 RETURNS SETOF watchpost.deliveries
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select d.* from watchpost.deliveries d
  where d.id in (
    select own.id from watchpost.deliveries own where own.alert_id = p_alert_id
    union
    select own.digest_id from watchpost.deliveries own where own.alert_id = p_alert_id and own.digest_id is not null)
$function$;

CREATE OR REPLACE FUNCTION private.my_evidence(p_alert_id uuid)
 RETURNS TABLE(facts jsonb, is_due boolean, number integer, record text, kid text, signature text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select private.evidence_facts(a.id), exists (select from watchpost.evidence_due d where d.alert_id = a.id),
    e.number, e.record, e.kid, e.signature
  from watchpost.alerts a
  left join lateral (
    select * from watchpost.evidence e where e.alert_id = a.id order by e.number desc limit 1) e on true
  where a.id = p_alert_id and a.drill_id is null and a.tenant_id = any(private.my_tenants())
$function$;

grant execute on function private.my_evidence(uuid) to authenticated;

CREATE OR REPLACE FUNCTION private.note_alert_evidence()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  perform private.note_evidence_due(new.id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION private.note_evidence_due(p_alert_id uuid)
 RETURNS void
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  insert into watchpost.evidence_due (alert_id) values (p_alert_id)
  on conflict (alert_id) do update set look_at = now(), token = gen_random_uuid()
$function$;

CREATE OR REPLACE FUNCTION private.note_redelivery_evidence()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  perform private.note_evidence_due(a.id)
  from watchpost.alerts a where a.id = new.alert_id and a.drill_id is null and private.is_over(a);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION private.purge_attempts(p_batch integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_before timestamptz := private.attempts_kept_since();
  v_count integer;
begin
  delete from watchpost.delivery_attempts where id in (
    select t.id from watchpost.delivery_attempts t
    where t.at < v_before and not exists (select private.wants_attempt(t))
    order by t.at
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$function$;

CREATE OR REPLACE FUNCTION private.purge_revisions(p_batch integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_before timestamptz := private.kept_since('event_revisions');
  v_count integer;
begin
  delete from watchpost.event_revisions where (event_id, revision) in (
    select r.event_id, r.revision from watchpost.event_revisions r
    where r.first_seen_at < v_before and not exists (select private.wants_revision(r.event_id, r.first_seen_at))
    order by r.first_seen_at
    limit p_batch);
  get diagnostics v_count = row_count;
  return v_count;
end
$function$;

CREATE OR REPLACE FUNCTION private.settled_alerts(p_limit integer)
 RETURNS TABLE(alert_id uuid, token uuid)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
$function$;

grant execute on function private.settled_alerts(integer) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.sign_evidence(p_alert_id uuid, p_number integer, p_record text, p_kid text, p_signature text)
 RETURNS void
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
  update watchpost.evidence set kid = p_kid, signature = p_signature
  where alert_id = p_alert_id and number = p_number and signature is null and record = p_record
$function$;

grant execute on function private.sign_evidence(uuid,integer,text,text,text) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.unsigned_evidence(p_limit integer)
 RETURNS TABLE(alert_id uuid, number integer, record text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select e.alert_id, e.number, e.record from watchpost.evidence e where e.signature is null order by e.frozen_at limit p_limit
$function$;

grant execute on function private.unsigned_evidence(integer) to watchpost_jobs;

CREATE OR REPLACE FUNCTION private.wants_attempt(t watchpost.delivery_attempts)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select a.id
  from watchpost.alerts a
  where a.drill_id is null and a.id in (
      select d.alert_id from watchpost.deliveries d where d.id = t.delivery_id
      union
      select d.alert_id from watchpost.deliveries d where d.digest_id = t.delivery_id)
    and not private.holds_attempt(a.id, t.at)
$function$;

CREATE OR REPLACE FUNCTION private.wants_revision(p_event_id text, p_at timestamp with time zone)
 RETURNS SETOF uuid
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select a.id
  from watchpost.alerts a
  where a.drill_id is null and a.id in (
      select o.id from watchpost.alerts o where o.event_id = p_event_id
      union
      select m.alert_id from watchpost.alert_events m where m.event_id = p_event_id)
    and not private.holds_revision(a.id, p_at)
$function$;

CREATE INDEX audit_alert ON watchpost.audit USING btree (target_id) WHERE (target_type = 'alert'::text);

CREATE INDEX evidence_due_look_at ON watchpost.evidence_due USING btree (look_at);

CREATE UNIQUE INDEX evidence_keys_one_signs ON watchpost.evidence_keys USING btree ((true)) WHERE (retired_at IS NULL);

CREATE INDEX evidence_kid ON watchpost.evidence USING btree (kid);

CREATE INDEX evidence_unsigned ON watchpost.evidence USING btree (frozen_at) WHERE (signature IS NULL);

CREATE TRIGGER alerts_evidence AFTER UPDATE OF resolved, note, seen_at, updates, status ON watchpost.alerts FOR EACH ROW WHEN (((new.drill_id IS NULL) AND (new.resolved OR old.resolved OR (((new.updates -> '-1'::integer) ->> 'kind'::text) = ANY (ARRAY['ended'::text, 'retracted'::text])) OR (((old.updates -> '-1'::integer) ->> 'kind'::text) = ANY (ARRAY['ended'::text, 'retracted'::text]))) AND ((old.resolved <> new.resolved) OR (old.status <> new.status) OR (old.updates <> new.updates) OR (old.note IS DISTINCT FROM new.note) OR (old.seen_at IS DISTINCT FROM new.seen_at)))) EXECUTE FUNCTION private.note_alert_evidence();

CREATE TRIGGER deliveries_evidence AFTER INSERT ON watchpost.deliveries FOR EACH ROW WHEN ((new.redelivery_of IS NOT NULL)) EXECUTE FUNCTION private.note_redelivery_evidence();

reset check_function_bodies;
reset role;
