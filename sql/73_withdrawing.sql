-- Withdrawing: a key of evidence that somebody else may have signed with.

set role watchpost_owner;

-- Withdraws a key that somebody else may have signed with since p_from, and answers of how many records it was. What this
-- database holds needs no signature to be believed here: the jobs sign it anew, with another key. Null: there is no such key.
create function private.withdraw_evidence_key(p_kid text, p_from timestamptz, p_reason text) returns bigint
language plpgsql volatile set search_path = '' as $$
declare
  v_count bigint;
begin
  update watchpost.evidence_keys
  set retired_at = coalesce(retired_at, now()), private_sealed = null, withdrawn_at = now(),
    withdrawn_from = least(withdrawn_from, p_from), withdrawn_reason = p_reason
  where kid = p_kid;
  if not found then
    return null;
  end if;
  update watchpost.evidence set kid = null, signature = null where kid = p_kid;
  get diagnostics v_count = row_count;
  perform private.record_operator_act('evidence_key.withdrawn', 'evidence_key', p_kid,
    jsonb_build_object('from', p_from, 'reason', p_reason, 'records', v_count));
  return v_count;
end
$$;

reset role;
