-- Idempotency: an Idempotency-Key that is sent twice creates one thing.

set role watchpost_owner;

create table watchpost.idempotency_keys (
  user_id uuid not null references watchpost.accounts on delete cascade,
  route text not null,
  key text not null check (length(key) between 1 and 255),
  request_hash bytea not null,
  status smallint not null,
  resource_id text not null,
  created_at timestamptz not null default now(),
  primary key (user_id, route, key)
);
comment on table watchpost.idempotency_keys is 'The outcome of an Idempotency-Key: status and id only, never a body. Kept for 24 hours.';
comment on column watchpost.idempotency_keys.route is 'Method and path it was sent to; the same key on another route is another request.';
comment on column watchpost.idempotency_keys.request_hash is 'SHA-256 of the request body, to refuse another body under the same key.';
comment on column watchpost.idempotency_keys.status is 'HTTP status of the first answer, repeated on a replay.';
comment on column watchpost.idempotency_keys.resource_id is 'Id of what was created, read again on a replay.';
create index idempotency_keys_created_at on watchpost.idempotency_keys (created_at);
alter table watchpost.idempotency_keys enable row level security;
alter table watchpost.idempotency_keys force row level security;

-- Security definer: starts an effect that must happen only once. Raises WPIDP with the first outcome as detail if the
-- key was used before, WPIDC for a different body, WPIDF while the first request is running.
create function private.begin_idempotent(p_route text, p_key text, p_request_hash bytea) returns void
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_user uuid := private.uid();
  v_seen record;
begin
  if not pg_try_advisory_xact_lock(hashtextextended(v_user || p_route || p_key, 0)) then
    raise exception 'the first request with this key is in flight' using errcode = 'WPIDF';
  end if;
  select request_hash, status, resource_id into v_seen
  from watchpost.idempotency_keys
  where user_id = v_user and route = p_route and key = p_key
    and created_at > now() - interval '24 hours';
  if not found then
    return;
  end if;
  if v_seen.request_hash <> p_request_hash then
    raise exception 'this key was used with another body' using errcode = 'WPIDC';
  end if;
  raise exception 'this key was used before' using errcode = 'WPIDP',
    detail = jsonb_build_object('status', v_seen.status, 'id', v_seen.resource_id)::text;
end
$$;

create function private.finish_idempotent(p_route text, p_key text, p_request_hash bytea, p_status integer, p_id text)
returns void
language sql volatile security definer set search_path = '' as $$
  insert into watchpost.idempotency_keys as k (user_id, route, key, request_hash, status, resource_id)
  values (private.uid(), p_route, p_key, p_request_hash, p_status, p_id)
  on conflict (user_id, route, key) do update
  set request_hash = excluded.request_hash,
      status = excluded.status,
      resource_id = excluded.resource_id,
      created_at = now()
$$;
grant execute on function private.begin_idempotent, private.finish_idempotent to authenticated;

reset role;
