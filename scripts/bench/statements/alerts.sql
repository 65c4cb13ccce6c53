\startpipeline
begin read only;
select set_config('request.jwt.claims', private.key_claims(:key_hash, :request_id, :context), true),
  set_config('statement_timeout', '10s', true), set_config('role', 'authenticated', true);
select private.alert_json(a) as alert
from unnest(case when null::uuid is null then private.my_tenants() else array[null::uuid] end) as mine (id)
cross join lateral (
  select *
  from watchpost.alerts
  where tenant_id = mine.id
    and raised_at >= case when false then coalesce(null::timestamptz, '-infinity') else private.window_start(7) end
    and raised_at < coalesce(null::timestamptz, 'infinity')
    and (raised_at, id) < ('infinity'::timestamptz, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
  order by raised_at desc, id desc
  limit 101
) a
order by a.raised_at desc, a.id desc
limit 101;
commit;
\endpipeline
