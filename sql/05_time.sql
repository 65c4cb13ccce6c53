-- Times: their form on the wire, and windows that are given in days.

set role watchpost_owner;

-- ISO 8601 UTC with milliseconds, as on the wire.
create function private.iso(t timestamptz) returns text
language sql stable as $$
  select pg_catalog.to_char(t at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

-- The start of a window of N days: today and the N - 1 days before, in UTC.
create function private.window_start(p_days integer) returns timestamptz
language sql stable set search_path = '' as $$
  select (date_trunc('day', now() at time zone 'UTC') - (p_days - 1) * interval '1 day') at time zone 'UTC'
$$;
grant execute on function private.iso, private.window_start to authenticated;
grant execute on function private.iso to watchpost_jobs;

reset role;
