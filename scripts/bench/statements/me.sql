\startpipeline
begin read only;
select set_config('request.jwt.claims', private.key_claims(:key_hash, :request_id, :context), true),
  set_config('statement_timeout', '10s', true), set_config('role', 'authenticated', true);
select o.id, o.name, m.role
from watchpost.members m
join watchpost.organisations o on o.id = m.org_id
where m.user_id = private.uid() and m.status = 'active'
order by o.name, o.id;
commit;
\endpipeline
