set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.audit_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
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
$function$;

reset check_function_bodies;
reset role;
