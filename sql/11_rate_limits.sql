-- Rate limits: how many requests an account or address may make, and what happens beyond that.

set role watchpost_owner;

create unlogged table watchpost.rate_limits (
  bucket text primary key,
  tat timestamptz not null,
  denied boolean not null default false
) with (fillfactor = 50);
comment on table watchpost.rate_limits is 'GCRA state per account or address: the theoretical arrival time of the next request.';
comment on column watchpost.rate_limits.bucket is 'account:<user_id> for known callers, address:<ip> for unknown ones.';
comment on column watchpost.rate_limits.tat is 'Theoretical arrival time of GCRA: the further ahead of now, the less budget is left.';
comment on column watchpost.rate_limits.denied is 'Whether the last request was refused.';
-- No index on tat: every request updates a row of this table, and so writes no index at all.
alter table watchpost.rate_limits enable row level security;
alter table watchpost.rate_limits force row level security;

create unlogged table watchpost.rate_denials (
  request_id uuid primary key,
  at timestamptz not null default now()
);
comment on table watchpost.rate_denials is 'Requests that the rate limit refused, so that their transaction does no work.';
comment on column watchpost.rate_denials.request_id is 'The refused request, as in its X-Request-Id.';
comment on column watchpost.rate_denials.at is 'When it was refused; rows are deleted after ten minutes.';
create index rate_denials_at on watchpost.rate_denials (at);
alter table watchpost.rate_denials enable row level security;
alter table watchpost.rate_denials force row level security;

-- GCRA: consumes, in one statement, p_cost of a bucket with a budget of p_limit per window. What costs more than that
-- is refused even to a bucket that nobody has used yet.
create function private.consume(
  p_bucket text, p_limit integer, p_window interval, p_cost integer default 1,
  out allowed boolean, out remaining integer, out reset_seconds integer, out retry_after integer
)
language plpgsql volatile set search_path = '' as $$
declare
  v_now timestamptz := clock_timestamp();
  v_step interval := p_window / p_limit * p_cost;
  v_tat timestamptz;
begin
  insert into watchpost.rate_limits as r (bucket, tat, denied)
  values (p_bucket, case when p_cost > p_limit then v_now else v_now + v_step end, p_cost > p_limit)
  on conflict (bucket) do update
  set denied = greatest(r.tat, v_now) + v_step > v_now + p_window,
      tat = case
        when greatest(r.tat, v_now) + v_step > v_now + p_window then r.tat
        else greatest(r.tat, v_now) + v_step
      end
  returning r.tat, not r.denied into v_tat, allowed;
  remaining := greatest(0, floor(extract(epoch from (p_window - (v_tat - v_now))) / extract(epoch from p_window / p_limit)))::integer;
  reset_seconds := greatest(0, ceil(extract(epoch from (v_tat - v_now))))::integer;
  retry_after := case when allowed then 0
    else greatest(1, ceil(extract(epoch from (v_tat + v_step - p_window - v_now))))::integer
  end;
end
$$;

-- What check_key and check_session answer. One composite value, because a set of one row costs twice as much a call.
create type private.verdict as (
  verdict text,
  user_id uuid,
  email text,
  plan text,
  scopes text[],
  key_id uuid,
  rate_limit integer,
  remaining integer,
  reset_seconds integer,
  retry_after integer
);

-- The verdict on a caller after the look-up; p_user_id is null for an unknown one. Consumes one request from the
-- account's budget, or from the address's budget if the account has none or is unknown.
create function private.admit(
  p_user_id uuid,
  p_email text,
  p_plan text,
  p_scopes text[],
  p_key_id uuid,
  p_any_plan boolean,
  p_address text,
  p_request_id uuid,
  p_limits jsonb
)
returns private.verdict
language plpgsql volatile set search_path = '' as $$
declare
  v_budget record;
  v_limit integer;
  v_refusal text := case
    when p_user_id is null then 'unauthenticated'
    -- A free account has no budget of its own; without the address's budget its refusals would be unlimited.
    when p_plan = 'free' and not p_any_plan then 'plan_required'
  end;
begin
  if v_refusal is not null then
    v_budget := private.consume('address:' || p_address, (p_limits ->> 'address')::integer, interval '1 minute');
    return row(
      case when v_budget.allowed then v_refusal else 'address_limited' end,
      p_user_id, p_email, p_plan, p_scopes, p_key_id, null, null, null, v_budget.retry_after)::private.verdict;
  end if;
  v_limit := (p_limits ->> case p_plan when 'free' then 'address' else p_plan end)::integer;
  v_budget := private.consume('account:' || p_user_id, v_limit, interval '1 minute');
  if not v_budget.allowed then
    insert into watchpost.rate_denials (request_id) values (p_request_id) on conflict do nothing;
  end if;
  return row(
    case when v_budget.allowed then 'ok' else 'rate_limited' end,
    p_user_id, p_email, p_plan, p_scopes, p_key_id,
    v_limit, v_budget.remaining, v_budget.reset_seconds, v_budget.retry_after)::private.verdict;
end
$$;

reset role;
