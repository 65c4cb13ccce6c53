-- Who is this caller? Enter what you were given: an address, a user id, a key id, the first characters of a key (never
-- the whole key), or the X-Request-Id of an answer.
with asked (what) as (values (
  'person@example.com'
)),
found as (
  select a.user_id from support.accounts a, asked where lower(a.email) = lower(what) or a.user_id::text = what
  union
  select k.user_id from support.api_keys k, asked where k.id::text = what or k.prefix = left(what, 12)
  union
  select u.account_id from watchpost.audit u, asked where u.request_id::text = what
)
select a.email, a.plan, a.user_id, a.signed_up_at, a.last_used_at, a.organisations, a.zones, a.channels,
  (select string_agg(concat_ws(' ', k.prefix || '…', k.state, array_to_string(k.scopes, '+'), k.name), E'\n'
     order by k.created_at desc)
   from support.api_keys k where k.user_id = a.user_id) as keys,
  (select string_agg(concat_ws(' ', r.at, r.details ->> 'code', r.details ->> 'count' || ' times', r.target_id), E'\n')
   from (
     select * from watchpost.audit u
     where u.account_id = a.user_id and u.action = 'request.refused'
     order by u.at desc limit 5
   ) r) as last_refusals
from support.accounts a
join found on found.user_id = a.user_id;
