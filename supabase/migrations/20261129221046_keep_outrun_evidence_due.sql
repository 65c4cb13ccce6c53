set role watchpost_owner;
set check_function_bodies = off;

CREATE OR REPLACE FUNCTION private.keep_evidence(p_alert_id uuid, p_number integer, p_record text, p_kid text, p_signature text, p_read_at timestamp with time zone, p_is_settled boolean, p_token uuid)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $function$
begin
  if p_record is null then
    update watchpost.evidence
    set read_at = greatest(read_at, p_read_at), is_settled = is_settled or p_is_settled
    where alert_id = p_alert_id and number = p_number;
  else
    insert into watchpost.evidence (alert_id, number, record, kid, signature, read_at, is_settled, frozen_at)
    select a.id, p_number, p_record, p_kid, p_signature, p_read_at, p_is_settled, p_read_at
    from watchpost.alerts a where a.id = p_alert_id
    on conflict (alert_id, number) do nothing;
    -- The record of whoever was first may lack the change: it stays due.
    if not found then
      return;
    end if;
    delete from watchpost.evidence where alert_id = p_alert_id and number <= p_number - 5;
  end if;
  delete from watchpost.evidence_due where alert_id = p_alert_id and token = p_token and p_is_settled;
end
$function$;

reset check_function_bodies;
reset role;
