set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.may_link(p_source text, p_type text, p_before interval)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select coalesce(p_before <= case
    when p_type = 'earthquake' and p_source in ('usgs', 'emsc', 'geonet', 'gdacs') then interval '1 day'
    when p_type = 'tsunami' and p_source in ('tsunami', 'nws') then interval '1 day'
    when p_type = 'storm' and p_source in ('nhc', 'gdacs', 'eonet') then interval '10 days'
    when p_type = 'wildfire' and p_source = 'firms' then interval '1 day'
    when p_type = 'wildfire' and p_source = 'eonet' then interval '10 days'
  end, false)
$function$;

reset check_function_bodies;
reset role;
