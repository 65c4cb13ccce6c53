set role watchpost_owner;
set check_function_bodies = off;

alter table watchpost.sources add column error_code text;
comment on column watchpost.sources.error_code is 'What kind of error it is, in one word; null: not known.';
alter table watchpost.blindness add column cause jsonb;
comment on column watchpost.blindness.cause is 'What the reason says, as private.source_cause; null: of a former release.';

CREATE OR REPLACE FUNCTION private.blindness_json(d watchpost.deliveries)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  with named as (
    select z.id, z.label, row_number() over (order by z.created_at, z.id) as nr
    from watchpost.blind_zones n
    join watchpost.zones z on z.id = n.zone_id
    join watchpost.channels c on c.id = n.channel_id
    where n.blindness_id = d.blindness_id and n.channel_id = d.channel_id and private.refusal_of(c, z) is null
  )
  select jsonb_build_object(
    'timestamp', private.iso(case d.type when 'zone.blind' then b.told_at else b.ended_at end),
    'alert', null,
    'zone', null,
    'source', jsonb_build_object(
      'source', s.source, 'title', s.title, 'attribution', s.attribution,
      'status', case d.type when 'zone.blind' then b.status else 'ok' end,
      'since', private.iso(b.began_at), 'reason', b.reason)
      || case when d.type = 'zone.blind' then '{}' else jsonb_build_object(
        'until', private.iso(b.well_at),
        'blind_seconds', round(extract(epoch from b.well_at - b.began_at))) end,
    'zones', (
      select jsonb_agg(jsonb_build_object('id', z.id, 'label', z.label) order by z.nr) from named z where z.nr <= 25),
    'zones_total', (select count(*) from named))
    -- A webhook sends the sentence itself.
    || case when (select kind from watchpost.channels where id = d.channel_id) = 'webhook' then '{}'
      else jsonb_build_object('cause', b.cause) end
  from watchpost.blindness b
  join watchpost.sources s on s.source = b.source
  where b.id = d.blindness_id
$function$;

CREATE OR REPLACE FUNCTION private.source_cause(s watchpost.sources)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select case
    when private.source_status(s) not in ('stale', 'down') then null
    when s.error_at > coalesce(s.last_success_at, '-infinity') then jsonb_build_object(
      'code', coalesce(s.error_code, 'error'), 'said', private.without_secrets(s.error))
    when s.last_success_at is null then jsonb_build_object('code', 'unanswered')
    when s.last_success_at <= now() - greatest(3 * s.interval_seconds, 180) * interval '1 second'
      then jsonb_build_object('code', 'nothing_since', 'at', private.iso(s.last_success_at))
    when s.last_event_at < now() - private.silent_after(s) then jsonb_build_object(
      'code', 'no_event_since', 'at', private.iso(s.last_event_at), 'seconds', s.longest_silence_seconds)
    else jsonb_build_object('code', 'unusable', 'said', (
      select private.without_secrets(h.reason) from watchpost.source_hours h
      where h.source = s.source and h.reason is not null
      order by h.hour desc limit 1))
  end
$function$;

CREATE OR REPLACE FUNCTION private.source_trouble(s watchpost.sources)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select case cause ->> 'code'
    when 'unanswered' then 'It has not answered yet.'
    when 'nothing_since' then format('Nothing has come from it since %s.', cause ->> 'at')
    when 'no_event_since' then format(
      'It answers, but has sent no event since %s; before that it was never silent for more than %s.',
      cause ->> 'at', case
        when (cause ->> 'seconds')::float8 <= 7200 then ceil((cause ->> 'seconds')::float8 / 60) || ' minutes'
        else ceil((cause ->> 'seconds')::float8 / 3600) || ' hours'
      end)
    when 'unusable' then format(
      'It answers, but most of what it answers cannot be used: %s', coalesce(cause ->> 'said', 'no reason is known'))
    else coalesce(cause ->> 'said', case when cause is not null then 'It answers with errors.' end)
  end
  from private.source_cause(s) as cause
$function$;

CREATE OR REPLACE FUNCTION private.watch_source(s watchpost.sources)
 RETURNS text
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_status text := private.source_status(s);
  v_is_well boolean := v_status = 'ok';
  b watchpost.blindness;
begin
  -- Whoever looked away for 5 minutes does not know what was meanwhile.
  update watchpost.blindness o
  set seen_at = now(),
      well_at = case when v_is_well then coalesce(o.well_at, now()) end,
      began_at = case when o.told_at is null and o.seen_at < now() - interval '5 minutes' then now() else o.began_at end
  where o.source = s.source and o.ended_at is null and v_status <> 'disabled'
  returning * into b;
  if v_status = 'disabled' then
    delete from watchpost.blindness where source = s.source and told_at is null;
  elsif v_is_well and b.well_at <= now() - private.well_after(s) then
    if b.told_at is null then
      delete from watchpost.blindness where id = b.id;
      return null;
    end if;
    update watchpost.blindness set ended_at = now() where id = b.id;
    perform private.deliver_blindness(b.id, 'zone.sighted');
    return 'sighted';
  elsif not v_is_well and b.id is null then
    insert into watchpost.blindness (source, status, reason, cause)
    values (s.source, v_status, private.source_trouble(s), private.source_cause(s));
  elsif not v_is_well and b.told_at is null and b.began_at <= now() - private.blind_after(s) then
    update watchpost.blindness
    set told_at = now(), status = v_status, reason = private.source_trouble(s), cause = private.source_cause(s)
    where id = b.id;
    perform private.note_blind_zones(b.id);
    perform private.deliver_blindness(b.id, 'zone.blind');
    return 'blind';
  end if;
  return null;
end
$function$;

reset check_function_bodies;
reset role;
