-- Revoke a key by its id (see support.api_keys). It takes effect with the next request and is recorded in the audit log.
-- A revoked key cannot be restored; its owner creates a new one.
with asked (key_id) as (values (
  '00000000-0000-0000-0000-000000000000'::uuid
)),
revoked as (
  update watchpost.api_keys k
  set revoked_at = now()
  from asked
  where k.id = asked.key_id and k.revoked_at is null
  returning k.id
)
select asked.key_id, k.email, k.name, k.prefix, case
    when k.id is null then 'no such key'
    when exists (select from revoked) then 'revoked now'
    else 'was revoked already'
  end as outcome
from asked left join support.api_keys k on k.id = asked.key_id;
