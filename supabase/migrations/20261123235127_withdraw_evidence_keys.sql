set role watchpost_owner;
set check_function_bodies = off;

alter table watchpost.evidence_keys
  add column withdrawn_from timestamptz,
  add column withdrawn_at timestamptz,
  add column withdrawn_reason text check (length(withdrawn_reason) between 1 and 500),
  add constraint evidence_keys_withdrawn check (
    num_nulls(withdrawn_from, withdrawn_at, withdrawn_reason) in (0, 3) and (withdrawn_at is null or retired_at is not null));
comment on column watchpost.evidence_keys.withdrawn_from is 'Since when somebody else may have signed with it; null: nobody is known to.';
comment on column watchpost.evidence_keys.withdrawn_at is 'When an operator withdrew it.';

drop function private.evidence_public_keys();

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
      select jsonb_agg(g.act order by g.first) from (select * from acts order by first limit 1000) g), '[]'),
    'audit_count', (select count(*) from acts))
  from watchpost.alerts a
  where a.id = p_alert_id
$function$;

CREATE OR REPLACE FUNCTION private.evidence_public_keys()
 RETURNS TABLE(kid text, public_jwk jsonb, created_at timestamp with time zone, retired_at timestamp with time zone, withdrawn_from timestamp with time zone, withdrawn_reason text)
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select k.kid, k.public_jwk, k.created_at, k.retired_at, k.withdrawn_from, k.withdrawn_reason from watchpost.evidence_keys k order by k.created_at desc, k.kid
$function$;

grant execute on function private.evidence_public_keys() to watchpost_api;

CREATE OR REPLACE FUNCTION private.withdraw_evidence_key(p_kid text, p_from timestamp with time zone, p_reason text)
 RETURNS bigint
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_count bigint;
begin
  update watchpost.evidence_keys
  set retired_at = coalesce(retired_at, now()), private_sealed = null, withdrawn_at = now(),
    withdrawn_from = least(withdrawn_from, p_from), withdrawn_reason = p_reason
  where kid = p_kid;
  if not found then
    return null;
  end if;
  update watchpost.evidence set kid = null, signature = null where kid = p_kid;
  get diagnostics v_count = row_count;
  perform private.record_operator_act('evidence_key.withdrawn', 'evidence_key', p_kid,
    jsonb_build_object('from', p_from, 'reason', p_reason, 'records', v_count));
  return v_count;
end
$function$;

reset check_function_bodies;
reset role;
