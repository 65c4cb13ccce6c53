-- Changes: what followers of alerts and events are told, by the snapshots of the database and not by time.
--
-- A row says in changed_in which transaction changed it last. A follower's cursor holds the snapshot up to
-- which everything was told; what that snapshot does not see is new, however long its transaction took.
-- What somebody came to see, or sees no more, without a change of the row itself, or because it was deleted,
-- is noted in visibility_changes. Which of the two it is, is asked of the policies when it is told.

set role watchpost_owner;

create table watchpost.visibility_changes (
  audience uuid not null,
  thing text not null check (thing in ('alert', 'event')),
  id text collate "C" not null,
  changed_in xid8 not null default pg_current_xact_id(),
  at timestamptz not null default now(),
  primary key (audience, thing, id)
);
comment on table watchpost.visibility_changes is 'Alerts and events that somebody may have come to see, or may see no more. Kept 30 days, see retention.';
comment on column watchpost.visibility_changes.audience is 'Account or organisation whose view changed; the nil UUID: everybody''s.';
comment on column watchpost.visibility_changes.changed_in is 'Transaction of the last such change.';
create index visibility_changes_order on watchpost.visibility_changes (audience, thing, changed_in, id);
create index visibility_changes_at on watchpost.visibility_changes (at);
alter table watchpost.visibility_changes enable row level security;
alter table watchpost.visibility_changes force row level security;
create policy visibility_changes_select on watchpost.visibility_changes for select to authenticated
  using (
    audience = any((select private.my_tenants())::uuid[])
    or audience = '00000000-0000-0000-0000-000000000000' and (select private.uid()) is not null);
grant select on watchpost.visibility_changes to authenticated;

create table watchpost.change_history (
  is_only boolean primary key default true check (is_only),
  epoch uuid not null default '00000000-0000-0000-0000-000000000000',
  seen_in xid8 not null default '0',
  purged_in xid8
);
comment on table watchpost.change_history is 'One row: from where on changes can be followed.';
comment on column watchpost.change_history.epoch is 'Which numbering of transactions cursors are about; a new one when a backup is restored into another server.';
comment on column watchpost.change_history.seen_in is 'A transaction that there was; a current one below it shows that the numbering began anew.';
comment on column watchpost.change_history.purged_in is 'Newest of the visibility changes that were deleted for their age; null: none was yet.';
alter table watchpost.change_history enable row level security;
alter table watchpost.change_history force row level security;
create policy change_history_select on watchpost.change_history for select to authenticated
  using ((select private.uid()) is not null);
grant select on watchpost.change_history to authenticated;
insert into watchpost.change_history default values;

create index alerts_tenant_changed on watchpost.alerts (tenant_id, changed_in, id);
create index events_tenant_changed on watchpost.events (tenant_id, changed_in, id collate "C");

create function private.note_change() returns trigger
language plpgsql volatile set search_path = '' as $$
begin
  new.changed_in := pg_current_xact_id();
  return new;
end
$$;
create trigger alerts_changed before update on watchpost.alerts
  for each row execute function private.note_change();
-- That a source repeats an event is no news.
create trigger events_changed before update on watchpost.events
  for each row when (old.reported_at is not distinct from new.reported_at) execute function private.note_change();

-- Security definer, the triggers that follow: they note a change, whoever makes it.
-- An alert is answered with its deliveries, so their news is its news. At the end of the transaction, when
-- most alerts were changed along with their delivery anyway: always that of a success, by private.settle_states.
create function private.note_delivery() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
begin
  update watchpost.alerts set changed_in = pg_current_xact_id()
  where id = new.alert_id and changed_in <> pg_current_xact_id();
  return null;
end
$$;
create constraint trigger deliveries_changed after update on watchpost.deliveries
  deferrable initially deferred
  for each row when (new.alert_id is not null and new.status not in ('sending', 'succeeded'))
  execute function private.note_delivery();
-- The first messages of alerts, of which there may be very many, are noted by private.deliver_alerts.
create constraint trigger deliveries_added after insert on watchpost.deliveries
  deferrable initially deferred
  for each row when (
    new.alert_id is not null and new.status <> 'sending'
    and not (new.type = 'alert.raised' and new.redelivery_of is null and new.step is null))
  execute function private.note_delivery();

create function private.note_visibility(p_thing text, p_audiences uuid[], p_ids text[]) returns void
language sql volatile set search_path = '' as $$
  insert into watchpost.visibility_changes (audience, thing, id)
  select distinct n.audience, p_thing, n.id
  from unnest(p_audiences, p_ids) as n (audience, id)
  order by n.audience, n.id
  on conflict (audience, thing, id) do update set changed_in = excluded.changed_in, at = excluded.at
$$;

-- Nobody is left to be told what an account had that was deleted itself.
create function private.note_deleted() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
begin
  if tg_table_name = 'alerts' then
    perform private.note_visibility('alert', array_agg(d.tenant_id), array_agg(d.id::text))
    from deleted d
    where d.drill_id is null
      and (d.org_id is not null or exists (select from watchpost.accounts a where a.user_id = d.owner_id));
  else
    perform private.note_visibility(
      'event', array_agg(coalesce(d.tenant_id, '00000000-0000-0000-0000-000000000000')), array_agg(d.id))
    from deleted d
    where d.owner_id is null or d.org_id is not null
      or exists (select from watchpost.accounts a where a.user_id = d.owner_id);
  end if;
  return null;
end
$$;
create trigger alerts_deleted after delete on watchpost.alerts
  referencing old table as deleted for each statement execute function private.note_deleted();
create trigger events_deleted after delete on watchpost.events
  referencing old table as deleted for each statement execute function private.note_deleted();

create function private.note_tenant() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
begin
  perform private.note_visibility(
    case tg_table_name when 'alerts' then 'alert' else 'event' end,
    array[coalesce(old.tenant_id, '00000000-0000-0000-0000-000000000000')], array[old.id::text]);
  return null;
end
$$;
create trigger alerts_tenant after update on watchpost.alerts
  for each row when (old.tenant_id is distinct from new.tenant_id and old.drill_id is null)
  execute function private.note_tenant();
create trigger events_tenant after update on watchpost.events
  for each row when (old.tenant_id is distinct from new.tenant_id) execute function private.note_tenant();

-- Whoever joins or leaves an organisation comes to see, or sees no more, all that it has. The lock waits for
-- alerts that are being written, which hold their organisation by the foreign key, and lets no others begin:
-- none is missed, and none noted that the member never saw.
create function private.note_membership() returns trigger
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_org uuid := case tg_op when 'DELETE' then old.org_id else new.org_id end;
  v_user uuid := case tg_op when 'DELETE' then old.user_id else new.user_id end;
begin
  perform from watchpost.organisations where id = v_org for update;
  if exists (select from watchpost.accounts where user_id = v_user) then
    perform private.note_visibility('alert', array_agg(v_user), array_agg(a.id::text))
    from watchpost.alerts a where a.tenant_id = v_org and a.drill_id is null;
    perform private.note_visibility('event', array_agg(v_user), array_agg(e.id))
    from watchpost.events e where e.tenant_id = v_org;
    -- After those, so that nothing is deleted in between; whoever leaves is told of it no more otherwise.
    insert into watchpost.visibility_changes (audience, thing, id)
    select v_user, v.thing, v.id from watchpost.visibility_changes v where v.audience = v_org
    order by 1, 2, 3
    on conflict (audience, thing, id) do update set changed_in = excluded.changed_in, at = excluded.at;
  end if;
  return case tg_op when 'DELETE' then old else new end;
end
$$;
-- Before, and by its name before members_reassign: what was the organisation's still is.
create trigger members_changes before delete on watchpost.members
  for each row when (old.status = 'active') execute function private.note_membership();
create trigger members_changes_joined after insert on watchpost.members
  for each row when (new.status = 'active') execute function private.note_membership();
create trigger members_changes_accepted after update of status on watchpost.members
  for each row when (old.status <> 'active' and new.status = 'active') execute function private.note_membership();

-- Up to where changes can be told now. A replica knows for certain only what is older than anything that runs.
create function private.change_horizon() returns pg_snapshot
language sql stable set search_path = '' as $$
  select case
    when pg_is_in_recovery()
      then format('%s:%s:', s.now, s.now)::pg_snapshot
    else pg_current_snapshot()
  end
  from (select pg_snapshot_xmin(pg_current_snapshot()) as now) s
$$;

-- The facts about a cursor: whether its numbering of transactions is still the one in use, and whether all
-- that followed p_base is still there.
create function private.change_facts(p_base pg_snapshot)
returns table (epoch uuid, horizon pg_snapshot, has_expired boolean, is_restored boolean)
language sql stable set search_path = '' as $$
  select h.epoch, private.change_horizon(),
    coalesce(
      h.purged_in >= pg_snapshot_xmax(p_base)
        or exists (select from pg_snapshot_xip(p_base) as running where running <= h.purged_in),
      false),
    h.seen_in >= pg_snapshot_xmax(pg_current_snapshot())
  from watchpost.change_history h
$$;

-- Visibility changes of the caller between two snapshots, after a position: the last one of each thing.
-- It has no search_path of its own, so that it is inlined; it is called where it is empty.
create function private.visibility_between(
  p_thing text, p_tenants uuid[], p_from pg_snapshot, p_until pg_snapshot, p_after xid8, p_after_id text
)
returns setof watchpost.visibility_changes
language sql stable as $$
  select v.*
  from unnest(p_tenants || '00000000-0000-0000-0000-000000000000'::uuid) as who (audience)
  cross join lateral (
    select x.*
    from watchpost.visibility_changes x
    where x.audience = who.audience and x.thing = p_thing
      and (x.changed_in, x.id) > (p_after, p_after_id)
      and x.changed_in >= pg_snapshot_xmin(p_from)
      and x.changed_in < pg_snapshot_xmax(p_until)
      and not pg_visible_in_snapshot(x.changed_in, p_from)
      and pg_visible_in_snapshot(x.changed_in, p_until)
  ) v
  where not exists (
    select from watchpost.visibility_changes newer
    where newer.audience = any(p_tenants || '00000000-0000-0000-0000-000000000000'::uuid)
      and newer.thing = p_thing and newer.id = v.id
      and (newer.changed_in, newer.audience) > (v.changed_in, v.audience)
      and not pg_visible_in_snapshot(newer.changed_in, p_from))
$$;

-- What changed of the alerts that the caller sees, or saw, between two snapshots: each alert once, at its last
-- change. One that has changed again since p_until is left to the next time. p_from null: all there is. What it is now is
-- looked up by whoever asks: a plan that is made for each call would be made anew for each function in it, too.
create function private.alert_news(
  p_from pg_snapshot, p_until pg_snapshot, p_after xid8, p_after_id text, p_limit integer
)
returns table (changed_in xid8, id text)
language plpgsql stable set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  v_from pg_snapshot := coalesce(p_from, '1:1:');
  v_until pg_snapshot := coalesce(p_until, private.change_horizon());
  v_after xid8 := greatest(p_after, '0'::xid8);
  v_after_id text := coalesce(p_after_id, '');
  v_tenants uuid[] := private.my_tenants();
begin
  return query
  with own as (
    select o.changed_in, o.id::text collate "C" as id
    from unnest(v_tenants) as mine (tenant_id)
    cross join lateral (
      select x.changed_in, x.id
      from watchpost.alerts x
      where x.tenant_id = mine.tenant_id
        and (x.changed_in, x.id) > (v_after, coalesce(nullif(v_after_id, '')::uuid, '00000000-0000-0000-0000-000000000000'))
        and x.changed_in >= pg_snapshot_xmin(v_from)
        and x.changed_in < pg_snapshot_xmax(v_until)
        and not pg_visible_in_snapshot(x.changed_in, v_from)
        and pg_visible_in_snapshot(x.changed_in, v_until)
      order by x.changed_in, x.id
      limit p_limit
    ) o
  ),
  noted as (
    select v.changed_in, v.id
    from private.visibility_between('alert', v_tenants, v_from, v_until, v_after, v_after_id) v
    where p_from is not null and not exists (
      select from watchpost.alerts a
      where a.id = v.id::uuid and not pg_visible_in_snapshot(a.changed_in, v_from))
    order by v.changed_in, v.id
    limit p_limit
  )
  select c.changed_in, c.id from (select * from own union all select * from noted) c order by 1, 2 limit p_limit;
end
$$;

-- The same of events; those without a tenant are everybody's.
create function private.event_news(
  p_from pg_snapshot, p_until pg_snapshot, p_after xid8, p_after_id text, p_limit integer
)
returns table (changed_in xid8, id text)
language plpgsql stable set search_path = '' set plan_cache_mode = force_custom_plan as $$
declare
  v_from pg_snapshot := coalesce(p_from, '1:1:');
  v_until pg_snapshot := coalesce(p_until, private.change_horizon());
  v_after xid8 := greatest(p_after, '0'::xid8);
  v_after_id text := coalesce(p_after_id, '');
  v_tenants uuid[] := private.my_tenants();
begin
  return query
  with own as (
    select o.changed_in, o.id collate "C" as id
    from unnest(v_tenants) as mine (tenant_id)
    cross join lateral (
      select x.changed_in, x.id
      from watchpost.events x
      where x.tenant_id = mine.tenant_id
        and (x.changed_in, x.id collate "C") > (v_after, v_after_id)
        and x.changed_in >= pg_snapshot_xmin(v_from)
        and x.changed_in < pg_snapshot_xmax(v_until)
        and not pg_visible_in_snapshot(x.changed_in, v_from)
        and pg_visible_in_snapshot(x.changed_in, v_until)
      order by x.changed_in, x.id collate "C"
      limit p_limit
    ) o
    union all
    select o.changed_in, o.id collate "C"
    from (
      select x.changed_in, x.id
      from watchpost.events x
      where x.tenant_id is null
        and (x.changed_in, x.id collate "C") > (v_after, v_after_id)
        and x.changed_in >= pg_snapshot_xmin(v_from)
        and x.changed_in < pg_snapshot_xmax(v_until)
        and not pg_visible_in_snapshot(x.changed_in, v_from)
        and pg_visible_in_snapshot(x.changed_in, v_until)
      order by x.tenant_id, x.changed_in, x.id collate "C"
      limit p_limit
    ) o
  ),
  noted as (
    select v.changed_in, v.id
    from private.visibility_between('event', v_tenants, v_from, v_until, v_after, v_after_id) v
    where p_from is not null and not exists (
      select from watchpost.events e
      where e.id = v.id collate "default" and not pg_visible_in_snapshot(e.changed_in, v_from))
    order by v.changed_in, v.id
    limit p_limit
  )
  select c.changed_in, c.id::text from (select * from own union all select * from noted) c order by 1, 2 limit p_limit;
end
$$;
grant execute on function private.change_horizon, private.change_facts, private.visibility_between,
  private.alert_news, private.event_news to authenticated;

-- Visibility changes that are past their time; a cursor from before them has expired.
create function private.purge_changes(p_batch integer) returns integer
language plpgsql volatile set search_path = '' as $$
declare
  v_before timestamptz := private.kept_since('changes');
  v_purged xid8[];
begin
  with old as (
    delete from watchpost.visibility_changes where (audience, thing, id) in (
      select audience, thing, id from watchpost.visibility_changes
      where at < v_before
      order by at
      limit p_batch)
    returning changed_in
  )
  select array_agg(changed_in) into v_purged from old;
  update watchpost.change_history
  set purged_in = greatest(purged_in, (select max(x) from unnest(v_purged) as x))
  where v_purged is not null;
  return coalesce(cardinality(v_purged), 0);
end
$$;

-- In a server that a backup was restored into, transactions are counted anew: what was counted before would be
-- told much later or never, so all is told again and cursors from before have expired.
create function private.keep_change_history() returns void
language plpgsql volatile set search_path = '' as $$
begin
  update watchpost.change_history set seen_in = pg_current_xact_id() where seen_in <= pg_current_xact_id();
  if not found then
    update watchpost.alerts set changed_in = pg_current_xact_id();
    update watchpost.events set changed_in = pg_current_xact_id();
    delete from watchpost.visibility_changes;
    update watchpost.change_history
    set epoch = gen_random_uuid(), seen_in = pg_current_xact_id(), purged_in = null;
  end if;
end
$$;

reset role;
