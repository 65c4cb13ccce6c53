-- Operators: who runs this service, signed in to the operator page, and what they did there or by a command.

set role watchpost_owner;

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
create index operator_sessions_expires_at on watchpost.operator_sessions (expires_at);
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
create index operator_acts_at on watchpost.operator_acts (at desc, id desc);
alter table watchpost.operator_acts enable row level security;
alter table watchpost.operator_acts force row level security;

-- Who acts in this transaction; null where it is no operator with a name.
create function private.operator() returns text
language sql stable set search_path = '' as $$
  select nullif(current_setting('watchpost.operator', true), '')
$$;

-- Writes what an operator does, once in a transaction; nothing where there is no operator.
create function private.record_operator_act(p_action text, p_target_type text, p_target_id text, p_details jsonb default '{}')
returns void
language sql volatile set search_path = '' as $$
  insert into watchpost.operator_acts (operator, via, action, target_type, target_id, details)
  select o.name, current_setting('watchpost.operator_via'), p_action, p_target_type, p_target_id, p_details
  from (select private.operator() as name) o
  where o.name is not null and private.claims() is null and not exists (
    select from watchpost.operator_acts a
    where a.at = now() and (a.action, a.target_type) = (p_action, p_target_type) and a.target_id is not distinct from p_target_id)
$$;

reset role;
