set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.hurry_later(p_id uuid, p_alerts uuid[])
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_channel uuid := (select d.channel_id from watchpost.deliveries d where d.id = p_id);
  v_ids text[] := array(
    select d.id::text from watchpost.deliveries d
    where d.alert_id = any(p_alerts) and d.channel_id = v_channel and d.status = 'queued' and d.digest_id is null
      and d.attempts = 0 and (d.sequence, d.act, private.step_number(d.step)) > (0, 0, 0) and d.next_attempt_at is not null);
begin
  if v_ids = '{}' then
    return;
  end if;
  update pgboss.job
  set start_after = pgboss.job_now()
  where name = 'deliver' and state = 'created' and group_id = v_channel::text and data ->> 'delivery_id' = any(v_ids)
    and start_after > pgboss.job_now();
  perform pg_notify('watchpost_jobs', 'deliver');
end
$function$;

CREATE OR REPLACE FUNCTION private.step_number(p_step jsonb)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
 SET search_path TO ''
AS $function$
  select coalesce((p_step ->> 'step')::integer, 0)
$function$;

CREATE OR REPLACE FUNCTION private.wait_for_earlier(d watchpost.deliveries)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  if d.type <> 'alert.digest' and (d.sequence, d.act, private.step_number(d.step)) = (0, 0, 0) then
    return null;
  end if;
  return (
    select max(greatest(case carrier.status when 'queued' then carrier.next_attempt_at end, pgboss.job_now() + interval '5 seconds'))
    from watchpost.deliveries mine
    join watchpost.deliveries earlier
      on earlier.alert_id = mine.alert_id and earlier.channel_id = mine.channel_id
      and (earlier.sequence, earlier.act, private.step_number(earlier.step)) < (mine.sequence, mine.act, private.step_number(mine.step))
    join watchpost.deliveries carrier on carrier.id = coalesce(earlier.digest_id, earlier.id)
    where (mine.id = d.id and d.type <> 'alert.digest' or mine.digest_id = d.id)
      and earlier.status in ('queued', 'sending') and earlier.type <> 'alert.digest'
      and carrier.id <> d.id
      and (carrier.created_at, carrier.sequence, carrier.act, private.step_number(carrier.step), carrier.id)
        < (d.created_at, d.sequence, d.act, private.step_number(d.step), d.id));
end
$function$;

reset check_function_bodies;
reset role;
