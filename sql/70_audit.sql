-- Audit: who did what. Triggers write it in the transaction of the action, and nothing changes it afterwards.

set role watchpost_owner;

create table watchpost.audit (
  id uuid primary key default gen_random_uuid(),
  at timestamptz not null default date_trunc('milliseconds', now()),
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null generated always as identity,
  account_id uuid not null,
  actor_id uuid,
  key_id uuid,
  action text not null,
  target_type text not null,
  target_id text,
  outcome text not null default 'success',
  ip text,
  user_agent text,
  request_id uuid,
  details jsonb not null default '{}'
);
comment on table watchpost.audit is 'Actions of an account, and of others on its things; one row per account concerned. Kept for 400 days.';
comment on column watchpost.audit.xid is 'With seq, the order of the export.';
comment on column watchpost.audit.account_id is 'Account whose log contains the row.';
comment on column watchpost.audit.actor_id is 'Account that acted; null for operators, whom details may name, and the service itself.';
comment on column watchpost.audit.key_id is 'API key used; null outside the API.';
comment on column watchpost.audit.action is 'What was done, as <thing>.<verb>; request.refused for refusals.';
comment on column watchpost.audit.target_id is 'Its id, or the route of a refusal.';
comment on column watchpost.audit.request_id is 'X-Request-Id of the request; for refusals the key under which they are counted.';
comment on column watchpost.audit.details is 'Changed fields before and after, without secrets; the count of refusals.';
create index audit_account_at on watchpost.audit (account_id, at desc, id desc);
create index audit_account_order on watchpost.audit (account_id, xid, seq);
create index audit_at on watchpost.audit (at);
create index audit_foreign_actor on watchpost.audit (actor_id) where actor_id <> account_id;
create index audit_alert on watchpost.audit (target_id) where target_type = 'alert';
create unique index audit_refusals on watchpost.audit (account_id, request_id)
  where action = 'request.refused';
alter table watchpost.audit enable row level security;
alter table watchpost.audit force row level security;
create policy audit_select on watchpost.audit for select to authenticated
  using (account_id = (select private.uid()));
grant select on watchpost.audit to authenticated;

-- Writes an action into the log of each account concerned, with the context of the request, if any, and into the
-- actor's log unless it is there already. What an operator does stands among the acts of operators too.
create function private.record_audit(
  p_action text, p_target_type text, p_target_id text, p_accounts uuid[], p_details jsonb default '{}',
  p_for_actor boolean default true
)
returns void
language sql volatile set search_path = '' as $$
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
$$;

-- The people who are responsible for organisations: actions on things shared there appear in their logs too.
create function private.admins_of(p_org_ids uuid[]) returns uuid[]
language sql stable set search_path = '' as $$
  select coalesce(array_agg(m.user_id), '{}') from watchpost.members m
  where m.org_id = any(p_org_ids) and m.status = 'active' and m.role in ('owner', 'admin')
$$;

-- The changed columns of a row, old and new. Of secrets, hashes, boxes, coordinates and texts that people wrote it
-- says only that they changed.
create function private.changed_fields(p_old jsonb, p_new jsonb) returns jsonb
language sql immutable set search_path = '' as $$
  select coalesce(jsonb_object_agg(n.key, case
    when n.key ~ '(sealed|hash|polygon|target|^note$)' then '"changed"'::jsonb
    else jsonb_build_array(p_old -> n.key, n.value) end), '{}')
  from jsonb_each(p_new) n
  where n.value is distinct from p_old -> n.key
    and n.key not in ('boxes', 'version', 'updated_at', 'tenant_id', 'failures', 'paused_until', 'failing_reason', 'failing_since',
      'changed_in', 'host')
$$;

-- Security definer: the audit trigger of every table whose rows belong to somebody. Its argument names the thing; the
-- action is <thing>.<created|updated|deleted|restored>.
create function private.audit_change() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  v_old jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  v_new jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
  v_row jsonb := coalesce(v_new, v_old);
  v_thing text := tg_argv[0];
  v_verb text := case tg_op when 'INSERT' then 'created' when 'UPDATE' then 'updated' else 'deleted' end;
  v_changes jsonb := '{}';
  v_accounts uuid[];
  v_before uuid[];
  v_after uuid[];
  v_id text;
begin
  if tg_op = 'UPDATE' then
    v_changes := private.changed_fields(v_old, v_new);
    if v_changes = '{}' then
      return null;
    end if;
    if v_changes ? 'deleted_at' then
      v_verb := case when v_new ->> 'deleted_at' is null then 'restored' else 'deleted' end;
      v_changes := '{}';
    end if;
    if v_changes ? 'revoked_at' then
      v_verb := 'revoked';
    end if;
    if v_thing = 'account' and v_changes ? 'plan' then
      v_verb := 'plan_changed';
    end if;
    if v_thing = 'alert' then
      v_verb := case
        when v_changes ? 'resolved' and (v_new ->> 'resolved')::boolean then 'resolved'
        when v_changes ? 'resolved' then 'reopened'
        when v_changes ? 'seen_at' then 'acknowledged'
        else 'noted'
      end;
      v_changes := v_changes - 'resolved' - 'resolved_at' - 'seen_at';
    end if;
    if v_thing = 'channel' and v_changes ? 'signing_secret_sealed' then
      v_verb := 'secret_rotated';
    end if;
  end if;
  if v_thing = 'member' and v_verb = 'created' and v_row ->> 'status' = 'invited' then
    v_verb := 'invited';
  end if;
  v_accounts := case
    when v_row ? 'owner_id' then array[(v_row ->> 'owner_id')::uuid, (v_old ->> 'owner_id')::uuid]
    else array[(v_row ->> 'user_id')::uuid]
  end;
  v_id := coalesce(v_row ->> 'id', v_row ->> 'user_id');
  if v_row ? 'owner_id' and v_changes ? 'org_id' then
    -- An organisation must see neither the other one nor the state before or after the row was shared with it.
    v_before := private.admins_of(array[(v_old ->> 'org_id')::uuid]);
    v_after := private.admins_of(array[(v_new ->> 'org_id')::uuid]);
    perform private.record_audit(
      v_thing || '.' || v_verb, v_thing, v_id,
      array(
        select a.id from unnest(v_before || v_after) as a (id)
        where (a.id = any(v_before), a.id = any(v_after)) = (s.sees_before, s.sees_after) and a.id <> all(v_accounts)),
      jsonb_build_object('changed', jsonb_build_object('org_id', jsonb_build_array(
        case when s.sees_before then v_old -> 'org_id' end, case when s.sees_after then v_new -> 'org_id' end)))
      || private.label_of(case when s.sees_after then v_new else v_old end),
      false)
    from (values (true, false), (false, true), (true, true)) as s (sees_before, sees_after);
  else
    v_accounts := v_accounts || private.admins_of(case
      when v_thing = 'organisation' then array[(v_row ->> 'id')::uuid]
      else array[(v_new ->> 'org_id')::uuid, (v_old ->> 'org_id')::uuid]
    end);
  end if;
  perform private.record_audit(
    v_thing || '.' || v_verb, v_thing, v_id, v_accounts,
    case when v_changes = '{}' then '{}' else jsonb_build_object('changed', v_changes) end
    || private.label_of(v_row));
  -- A trigger before a deletion must return the row, otherwise nothing is deleted.
  return coalesce(new, old);
end
$$;

create function private.label_of(p_row jsonb) returns jsonb
language sql immutable set search_path = '' as $$
  select case when p_row ? 'label' then jsonb_build_object('label', p_row -> 'label') else '{}' end
$$;

create trigger zones_audit after insert or update on watchpost.zones
  for each row execute function private.audit_change('zone');
create trigger channels_audit after insert or update on watchpost.channels
  for each row execute function private.audit_change('channel');
create trigger members_audit after insert or update or delete on watchpost.members
  for each row execute function private.audit_change('member');
-- When the transaction commits, it has its owner; before its deletion it still has its members.
create constraint trigger organisations_audit_insert after insert on watchpost.organisations
  deferrable initially deferred for each row execute function private.audit_change('organisation');
create trigger organisations_audit after update on watchpost.organisations
  for each row execute function private.audit_change('organisation');
create trigger organisations_audit_delete before delete on watchpost.organisations
  for each row execute function private.audit_change('organisation');
create trigger api_keys_audit after insert or update on watchpost.api_keys
  for each row execute function private.audit_change('key');
create trigger accounts_audit_insert after insert on watchpost.accounts
  for each row execute function private.audit_change('account');
create trigger accounts_audit after update of plan on watchpost.accounts
  for each row execute function private.audit_change('account');
create trigger sign_in_links_audit after insert on watchpost.sign_in_links
  for each row execute function private.audit_change('sign_in_link');
create trigger alerts_audit after update of resolved, note, seen_at on watchpost.alerts
  for each row when (
    old.resolved is distinct from new.resolved or old.note is distinct from new.note
    or old.seen_at is null and new.seen_at is not null)
  execute function private.audit_change('alert');

-- Security definer: the audit trigger of feed links, which stand in the logs of those who are responsible for the zone.
-- A link that goes with its zone or its maker is no act of its own.
create function private.audit_feed_link() returns trigger
language plpgsql security definer set search_path = '' as $$
declare
  v_link watchpost.feed_links := case tg_op when 'DELETE' then old else new end;
begin
  perform private.record_audit(
    'feed_link.' || case tg_op when 'INSERT' then 'created' when 'UPDATE' then 'rotated' else 'revoked' end,
    'feed_link', v_link.id::text,
    array[z.owner_id, v_link.owner_id] || private.admins_of(array[z.org_id]),
    jsonb_build_object('zone_id', z.id, 'zone', z.label) || private.label_of(to_jsonb(v_link)))
  from watchpost.zones z
  where z.id = v_link.zone_id and exists (select from watchpost.accounts a where a.user_id = v_link.owner_id);
  return null;
end
$$;
create trigger feed_links_audit after insert or update or delete on watchpost.feed_links
  for each row execute function private.audit_feed_link();

-- Security definer: refusals of a known key, counted per minute, key, code and route in one row.
create function private.record_refusal(p_user_id uuid, p_key_id uuid, p_code text, p_route text, p_context jsonb)
returns void
language sql volatile security definer set search_path = '' as $$
  insert into watchpost.audit as a (
    account_id, actor_id, key_id, action, target_type, target_id, outcome, ip, user_agent, request_id, details)
  values (
    p_user_id, p_user_id, p_key_id, 'request.refused', 'route', p_route, 'failure',
    p_context ->> 'ip', p_context ->> 'user_agent',
    md5(concat_ws('|', p_user_id, p_key_id, p_code, p_route, date_trunc('minute', now())))::uuid,
    jsonb_build_object('code', p_code, 'count', 1))
  on conflict (account_id, request_id) where action = 'request.refused' do update
  set details = jsonb_set(a.details, '{count}', to_jsonb((a.details ->> 'count')::integer + 1))
$$;
grant execute on function private.record_refusal to watchpost_api;

reset role;
