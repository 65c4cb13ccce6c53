set role watchpost_owner;
set check_function_bodies = off;

create table watchpost.operator_sessions (
  id uuid primary key default gen_random_uuid(),
  operator text not null check (length(operator) between 1 and 80),
  link_hash bytea unique check (length(link_hash) = 32),
  session_hash bytea unique check (length(session_hash) = 32),
  created_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  check (num_nonnulls(link_hash, session_hash) = 1)
);
comment on table watchpost.operator_sessions is 'Sign-ins to the operator page: a link that works once, then the session that it became.';
comment on column watchpost.operator_sessions.link_hash is 'SHA-256; null once the link was used.';
comment on column watchpost.operator_sessions.session_hash is 'SHA-256 of both halves of the session''s secret; null before the link was used.';
comment on column watchpost.operator_sessions.used_at is 'When it was used last, accurate to a minute.';
alter table watchpost.operator_sessions enable row level security;
alter table watchpost.operator_sessions force row level security;

create table watchpost.operator_acts (
  id uuid primary key default gen_random_uuid(),
  at timestamptz not null default now(),
  operator text not null check (length(operator) between 1 and 80),
  via text not null check (via in ('command', 'page')),
  action text not null,
  target_type text not null,
  target_id text,
  details jsonb not null default '{}'
);
comment on table watchpost.operator_acts is 'What operators did by a command or on the operator page; nothing changes it afterwards. Kept as long as the audit log.';
comment on column watchpost.operator_acts.action is 'What was done, as <thing>.<verb>; the same as in the audit log of the account concerned.';
comment on column watchpost.operator_acts.details is 'Changed fields before and after, without secrets and addresses.';
alter table watchpost.operator_acts enable row level security;
alter table watchpost.operator_acts force row level security;

create or replace view support.audit with (security_invoker = true) as
select u.id, u.at, a.email as account, case
    when u.actor_id is null then coalesce('operator ' || coalesce(u.details ->> 'operator', u.details ->> 'via'), 'service')
    else coalesce(b.email, u.actor_id::text)
  end as actor,
  u.action, u.outcome, u.target_type, u.target_id, k.name as key, u.ip, u.user_agent, u.details, u.request_id,
  u.account_id, u.actor_id, u.key_id
from watchpost.audit u
left join watchpost.accounts a on a.user_id = u.account_id
left join watchpost.accounts b on b.user_id = u.actor_id
left join watchpost.api_keys k on k.id = u.key_id
order by u.at desc;
comment on column support.audit.actor is 'Address of the actor, or operator with the name, else the login used.';

create view support.operator_acts with (security_invoker = true) as
select o.id, o.at, o.operator, o.via, o.action, o.target_type, o.target_id, o.details
from watchpost.operator_acts o
order by o.at desc;
comment on view support.operator_acts is 'What operators did by a command or on the operator page, newest first.';
comment on column support.operator_acts.operator is 'The name that was given with the sign-in link, or the user of the machine.';
grant select on watchpost.operator_acts, support.operator_acts to service_role;

comment on column watchpost.audit.actor_id is 'Account that acted; null for operators, whom details may name, and the service itself.';

CREATE OR REPLACE FUNCTION private.discard_dead(p_ids uuid[], p_reason text)
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
declare
  v_dead uuid[] := array(
    select j.id from pgboss.job j where j.name = 'dead' and j.state < 'active' and j.id = any(p_ids) for update);
  v_deliveries uuid[] := array(
    select d.id from watchpost.deliveries d
    join pgboss.job j on j.data ->> 'delivery_id' = d.id::text
    where j.name = 'dead' and j.source_name = 'deliver' and j.id = any(v_dead)
      and d.status in ('queued', 'held', 'sending')
    for update of d);
begin
  if v_dead = '{}' then
    return 0;
  end if;
  perform private.record_operator_act(
    'queue.discarded', 'queue', 'dead', jsonb_build_object('jobs', cardinality(v_dead), 'reason', p_reason));
  perform private.record_audit(
    'queue.discarded', 'queue', 'dead', array[c.owner_id],
    jsonb_build_object('deliveries', count(*), 'reason', p_reason))
  from watchpost.deliveries d
  join watchpost.channels c on c.id = d.channel_id
  where d.id = any(v_deliveries)
  group by c.owner_id;
  perform private.cancel_deliveries(v_deliveries, 'An operator discarded it: ' || p_reason);
  update watchpost.alerts a
  set status = 'failed', updated_at = now()
  where a.id in (select d.alert_id from watchpost.deliveries d where d.id = any(v_deliveries))
    and a.status in ('pending', 'held') and not exists (
      select from watchpost.deliveries d
      where d.alert_id = a.id and d.status in ('queued', 'held', 'sending', 'succeeded'));
  delete from pgboss.job j where j.name = 'dead' and j.id = any(v_dead);
  return cardinality(v_dead);
end
$function$;

CREATE OR REPLACE FUNCTION private.erase_account(p_user_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_pseudonym uuid := gen_random_uuid();
  v_proved text;
  v_org uuid;
  v_heir uuid;
  v_shared uuid[];
begin
  select case when confirmed_at is not null then lower(email) end into v_proved
  from watchpost.accounts where user_id = p_user_id for update;
  if not found then
    return;
  end if;
  for v_org in select org_id from watchpost.members where user_id = p_user_id and role = 'owner' loop
    select user_id into v_heir
    from watchpost.members
    where org_id = v_org and status = 'active' and user_id <> p_user_id
    order by role = 'admin' desc, joined_at, id
    limit 1;
    if found then
      perform private.move_ownership(v_org, v_heir);
    else
      delete from watchpost.organisations where id = v_org;
    end if;
  end loop;
  -- Not those of another person with the same address, nor those for an address that was never confirmed.
  delete from watchpost.members
  where lower(email) = v_proved and status = 'invited' and not exists (
    select from watchpost.accounts where lower(email) = v_proved and user_id <> p_user_id);
  v_shared := array(
    select z.id from watchpost.zones z
    where z.org_id in (select unnest(s.org_ids) from watchpost.account_states s where s.user_id = p_user_id));
  perform private.erase_from_evidence(p_user_id, v_pseudonym);
  -- Before the account itself is deleted, whose foreign keys would clear the sender of the invites that become void.
  delete from watchpost.members where user_id = p_user_id;
  perform private.record_audit('account.deleted', 'account', p_user_id::text, array[p_user_id]);
  delete from watchpost.accounts where user_id = p_user_id;

  -- The history of things that passed on would show whose they were.
  update watchpost.zone_versions
  set definition = replace(definition::text, p_user_id::text, v_pseudonym::text)::jsonb,
      changes = replace(changes::text, p_user_id::text, v_pseudonym::text)::jsonb,
      actor_id = case when actor_id = p_user_id then v_pseudonym else actor_id end
  where zone_id = any(v_shared)
    and (actor_id = p_user_id or concat(definition, changes) like '%' || p_user_id || '%');
  update watchpost.account_states set user_id = v_pseudonym where user_id = p_user_id;
  update watchpost.operator_acts
  set target_id = case when target_id = p_user_id::text then v_pseudonym::text else target_id end,
      details = replace((details - 'label')::text, p_user_id::text, v_pseudonym::text)::jsonb
  where target_id = p_user_id::text or details::text like '%' || p_user_id || '%';
  -- Its own log first, then its traces in the logs of others.
  update watchpost.audit
  set account_id = v_pseudonym,
      actor_id = case when actor_id = p_user_id then v_pseudonym else actor_id end,
      target_id = case when target_id = p_user_id::text then v_pseudonym::text else target_id end,
      ip = null, user_agent = null,
      details = replace((details - 'label' - 'changed')::text, p_user_id::text, v_pseudonym::text)::jsonb
  where account_id = p_user_id;
  update watchpost.audit
  set actor_id = v_pseudonym,
      target_id = case when target_id = p_user_id::text then v_pseudonym::text else target_id end,
      ip = null, user_agent = null,
      details = replace(details::text, p_user_id::text, v_pseudonym::text)::jsonb
  where actor_id = p_user_id and actor_id <> account_id;
end
$function$;

CREATE OR REPLACE FUNCTION private.operator()
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO ''
AS $function$
  select nullif(current_setting('watchpost.operator', true), '')
$function$;

CREATE OR REPLACE FUNCTION private.purge(p_batch integer DEFAULT 2000)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
declare
  v_count integer := 0;
begin
  v_count := v_count + private.purge_revisions(p_batch);
  v_count := v_count + private.purge_mainshocks(p_batch);
  v_count := v_count + private.purge_events(p_batch);
  v_count := v_count + private.purge_batches(p_batch);
  v_count := v_count + private.purge_attempts(p_batch);
  v_count := v_count + private.purge_alerts(p_batch);
  v_count := v_count + private.purge_drills(p_batch);
  v_count := v_count + private.purge_tests(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_blindness(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_troubles(private.kept_since('alerts'), p_batch);
  v_count := v_count + private.purge_audit(p_batch);
  v_count := v_count + private.purge_memory(p_batch);
  v_count := v_count + private.purge_versions(p_batch);
  v_count := v_count + private.purge_account_states(p_batch);
  v_count := v_count + private.purge_deleted(p_batch);
  v_count := v_count + private.purge_changes(p_batch);
  v_count := v_count + private.purge_zone_changes(p_batch);
  perform private.keep_change_history();
  perform private.end_interrupted_tests();
  perform private.purge_credentials();
  perform private.purge_hosts();
  perform private.purge_positions();
  delete from watchpost.operator_acts where at < private.kept_since('audit');
  delete from watchpost.source_hours where hour < now() - interval '7 days';
  perform private.measure_silence();
  perform private.measure_accepted();
  perform private.measure_delivery();
  return v_count;
end
$function$;

CREATE OR REPLACE FUNCTION private.purge_credentials()
 RETURNS void
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  delete from watchpost.api_keys where revoked_at < private.kept_since('audit');
  delete from watchpost.idempotency_keys where created_at < now() - interval '24 hours';
  delete from watchpost.sign_in_links where expires_at < now();
  delete from watchpost.operator_sessions where expires_at < now();
  delete from watchpost.refresh_tokens where used_at < now() - interval '30 days';
  delete from watchpost.sessions where refreshed_at < now() - interval '30 days';
  delete from watchpost.rate_denials where at < now() - interval '10 minutes';
  delete from watchpost.rate_limits where tat < now() - interval '10 minutes';
$function$;

CREATE OR REPLACE FUNCTION private.record_audit(p_action text, p_target_type text, p_target_id text, p_accounts uuid[], p_details jsonb DEFAULT '{}'::jsonb, p_for_actor boolean DEFAULT true)
 RETURNS void
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  insert into watchpost.audit (
    account_id, actor_id, key_id, action, target_type, target_id, ip, user_agent, request_id, details)
  select distinct a.id, private.uid(), (c.claims ->> 'key_id')::uuid, p_action, p_target_type, p_target_id,
    c.claims ->> 'ip', c.claims ->> 'user_agent', (c.claims ->> 'request_id')::uuid,
    p_details || case when c.claims is null
      then jsonb_strip_nulls(jsonb_build_object('via', session_user::text, 'operator', private.operator())) else '{}' end
  from (select private.claims() as claims) c
  cross join lateral unnest(p_accounts || private.uid()) as a (id)
  where a.id is not null and (p_for_actor or a.id is distinct from private.uid());
  select private.record_operator_act(p_action, p_target_type, p_target_id, p_details)
$function$;

CREATE OR REPLACE FUNCTION private.record_operator_act(p_action text, p_target_type text, p_target_id text, p_details jsonb DEFAULT '{}'::jsonb)
 RETURNS void
 LANGUAGE sql
 SET search_path TO ''
AS $function$
  insert into watchpost.operator_acts (operator, via, action, target_type, target_id, details)
  select o.name, current_setting('watchpost.operator_via'), p_action, p_target_type, p_target_id, p_details
  from (select private.operator() as name) o
  where o.name is not null and private.claims() is null and not exists (
    select from watchpost.operator_acts a
    where a.at = now() and (a.action, a.target_type) = (p_action, p_target_type) and a.target_id is not distinct from p_target_id)
$function$;

CREATE INDEX operator_acts_at ON watchpost.operator_acts USING btree (at DESC, id DESC);

CREATE INDEX operator_sessions_expires_at ON watchpost.operator_sessions USING btree (expires_at);

reset check_function_bodies;
reset role;
