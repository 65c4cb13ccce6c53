-- The links in mails: confirming the address of a channel, and unsubscribing it. Nothing but a confirmation is sent to
-- an address that nobody has confirmed (private.refusal_of).

set role watchpost_owner;

-- Security definer, because deliveries and limits are written for the caller.
-- Asks the address of one of the caller's channels, by mail, whether it wants its messages. Returns 0, or how many
-- seconds to wait when too many such mails went to its mailbox or were asked for by the caller; null: not their channel.
create function private.begin_confirmation(p_channel_id uuid, p_mailbox text) returns integer
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_channel watchpost.channels;
  v_budget record;
begin
  select * into v_channel
  from watchpost.channels c
  where c.id = p_channel_id and c.deleted_at is null and private.can_write()
    and (c.owner_id = private.uid() or c.org_id = any(private.admin_orgs()));
  if not found then
    return null;
  end if;
  if v_channel.confirmation_id is null then
    raise exception 'A channel of this kind needs no confirmation.' using errcode = 'WP409';
  end if;
  if v_channel.confirmed_at is not null then
    raise exception 'The address of this channel is confirmed already.' using errcode = 'WP409';
  end if;
  select * into v_budget from private.consume('mailbox:' || p_mailbox, 3, interval '1 day');
  if v_budget.allowed then
    select * into v_budget from private.consume('mailboxes:' || private.uid(), 20, interval '1 day');
  end if;
  if not v_budget.allowed then
    return v_budget.retry_after;
  end if;
  perform private.add_confirmation(p_channel_id);
  perform private.record_audit('channel.confirmation_sent', 'channel', v_channel.id::text,
    v_channel.owner_id || private.admins_of(array[v_channel.org_id]));
  return 0;
end
$$;
grant execute on function private.begin_confirmation to authenticated;

-- Security definer, all of these, because whoever opens a link is nobody that policies know. The API has verified that
-- it made the link for this channel and this confirmation, which is another one when the address changes.
-- What the page of a link needs to know before anything is done; null: the link is about nothing any more. Names nobody.
create function private.address_behind_link(p_channel_id uuid, p_confirmation_id uuid) returns jsonb
language sql stable security definer set search_path = '' as $$
  select jsonb_build_object('language', c.language, 'is_confirmed', c.confirmed_at is not null)
  from watchpost.channels c
  where c.id = p_channel_id and c.confirmation_id = p_confirmation_id and c.deleted_at is null
$$;

-- Returns `confirmed`, `already` or `gone`. p_context: ip, user_agent and request_id, for the audit log.
create function private.confirm_address(p_channel_id uuid, p_confirmation_id uuid, p_context jsonb default '{}')
returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_is_first boolean;
begin
  if private.address_behind_link(p_channel_id, p_confirmation_id) is null then
    return 'gone';
  end if;
  perform set_config('request.jwt.claims', p_context::text, true);
  update watchpost.channels
  set confirmed_at = now()
  where id = p_channel_id and confirmation_id = p_confirmation_id and confirmed_at is null;
  v_is_first := found;
  perform set_config('request.jwt.claims', '', true);
  return case when v_is_first then 'confirmed' else 'already' end;
end
$$;

-- Returns `unsubscribed`, `already` or `gone`. Whoever switches the channel on again has to get another confirmation.
create function private.unsubscribe_address(p_channel_id uuid, p_confirmation_id uuid, p_context jsonb default '{}')
returns text
language plpgsql volatile security definer set search_path = '' as $$
declare
  v_is_first boolean;
begin
  if private.address_behind_link(p_channel_id, p_confirmation_id) is null then
    return 'gone';
  end if;
  perform set_config('request.jwt.claims', p_context::text, true);
  update watchpost.channels
  set confirmed_at = null, enabled = false, status = 'disabled', failing_reason = null, failing_since = null,
      disabled_reason = 'Somebody unsubscribed with the link in one of its mails.'
  where id = p_channel_id and confirmation_id = p_confirmation_id and confirmed_at is not null;
  v_is_first := found;
  perform set_config('request.jwt.claims', '', true);
  return case when v_is_first then 'unsubscribed' else 'already' end;
end
$$;
grant execute on function private.address_behind_link, private.confirm_address, private.unsubscribe_address
  to watchpost_api;

reset role;
