set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.wait_for_earlier(d watchpost.deliveries)
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE
 SET search_path TO ''
AS $function$
begin
  if d.type <> 'alert.digest' and (d.sequence, d.act) = (0, 0) then
    return null;
  end if;
  return (
    select max(greatest(case carrier.status when 'queued' then carrier.next_attempt_at end, pgboss.job_now() + interval '5 seconds'))
    from watchpost.deliveries mine
    join watchpost.deliveries earlier
      on earlier.alert_id = mine.alert_id and earlier.channel_id = mine.channel_id
      and (earlier.sequence, earlier.act) < (mine.sequence, mine.act)
    join watchpost.deliveries carrier on carrier.id = coalesce(earlier.digest_id, earlier.id)
    where (mine.id = d.id and d.type <> 'alert.digest' or mine.digest_id = d.id)
      and earlier.status in ('queued', 'sending') and earlier.type <> 'alert.digest'
      and carrier.id <> d.id
      and (carrier.created_at, carrier.sequence, carrier.act, carrier.id) < (d.created_at, d.sequence, d.act, d.id));
end
$function$;

reset check_function_bodies;
reset role;
