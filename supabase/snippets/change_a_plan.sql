-- Change a plan: free, pro or enterprise. Below pro the API answers 402 and zones pause; nothing is deleted. The change
-- takes effect with the next request and is recorded in the audit log. Two accounts may share an address: then nothing is
-- changed and their ids are listed; use one of them instead of the address.
with asked (who, plan) as (values (
  'person@example.com', 'pro'
)),
found as (
  select a.user_id, a.email, a.plan
  from watchpost.accounts a, asked
  where lower(a.email) = lower(asked.who) or a.user_id::text = asked.who
),
changed as (
  update watchpost.accounts a
  set plan = asked.plan, updated_at = now()
  from asked
  where a.user_id in (select user_id from found) and (select count(*) from found) = 1 and a.plan <> asked.plan
  returning a.user_id, a.email, a.plan
)
select c.email, c.plan, 'changed' as outcome, c.user_id from changed c
union all
select asked.who, coalesce(f.plan, '-'),
  case
    when f.user_id is null then 'no such account'
    when (select count(*) from found) > 1 then 'one of several: put its id instead'
    else 'is so already'
  end, f.user_id
from asked left join found f on true
where not exists (select from changed);
