-- Change a plan: free, pro or enterprise. Below pro the API answers 402 and zones pause; nothing is
-- deleted. It counts from the next request on and is in the audit log.
with asked (email, plan) as (values (
  'person@example.com', 'pro'
)),
changed as (
  update watchpost.accounts a
  set plan = asked.plan, updated_at = now()
  from asked
  where lower(a.email) = lower(asked.email) and a.plan <> asked.plan
  returning a.user_id, a.email, a.plan
)
select c.email, c.plan, 'changed' as outcome from changed c
union all
select asked.email, coalesce(a.plan, '-'), case when a.plan is null then 'no such account' else 'is so already' end
from asked left join watchpost.accounts a on lower(a.email) = lower(asked.email)
where not exists (select from changed);
