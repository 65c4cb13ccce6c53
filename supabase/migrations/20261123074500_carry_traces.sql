set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.current_trace()
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select substring(current_setting('watchpost.trace', true) from '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?: apart)?$')
$function$;

alter table watchpost.batches
  add column trace text default private.current_trace() check (length(trace) <= 70);
comment on column watchpost.batches.trace is 'What its trace goes on from: a W3C traceparent; null: nothing was traced.';
alter table watchpost.deliveries
  add column trace text default private.current_trace() check (length(trace) <= 70);
comment on column watchpost.deliveries.trace is 'What its trace goes on from: a W3C traceparent, or with "apart" only a link; null: nothing was traced.';

reset check_function_bodies;
reset role;
