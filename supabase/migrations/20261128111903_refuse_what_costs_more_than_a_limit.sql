set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.consume(p_bucket text, p_limit integer, p_window interval, p_cost integer DEFAULT 1, OUT allowed boolean, OUT remaining integer, OUT reset_seconds integer, OUT retry_after integer)
 RETURNS record
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_now timestamptz := clock_timestamp();
  v_step interval := p_window / p_limit * p_cost;
  v_tat timestamptz;
begin
  insert into watchpost.rate_limits as r (bucket, tat, denied)
  values (p_bucket, case when p_cost > p_limit then v_now else v_now + v_step end, p_cost > p_limit)
  on conflict (bucket) do update
  set denied = greatest(r.tat, v_now) + v_step > v_now + p_window,
      tat = case
        when greatest(r.tat, v_now) + v_step > v_now + p_window then r.tat
        else greatest(r.tat, v_now) + v_step
      end
  returning r.tat, not r.denied into v_tat, allowed;
  remaining := greatest(0, floor(extract(epoch from (p_window - (v_tat - v_now))) / extract(epoch from p_window / p_limit)))::integer;
  reset_seconds := greatest(0, ceil(extract(epoch from (v_tat - v_now))))::integer;
  retry_after := case when allowed then 0
    else greatest(1, ceil(extract(epoch from (v_tat + v_step - p_window - v_now))))::integer
  end;
end
$function$;

reset check_function_bodies;
reset role;
