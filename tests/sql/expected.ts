// What the database is expected to allow. A line that is not here is a right nobody decided on.

/** Every grant on a table of ours, in whatever way a role came to it; columns where it is not all. */
export const GRANTS = lines(`
  account_states watchpost_jobs: select
  accounts authenticated: select
  accounts watchpost_jobs: select
  alert_events authenticated: select
  alert_events watchpost_jobs: select, insert, update, delete
  alert_steps authenticated: select
  alert_steps watchpost_jobs: select
  alerts authenticated: select, update (resolved resolved_at resolved_via note updated_at
    resolved_by seen_at seen_by seen_via)
  alerts watchpost_jobs: select, insert, update
  api_keys authenticated: select (id user_id name prefix scopes expires_at revoked_at
    created_at)
  audit authenticated: select
  batches watchpost_jobs: select, update
  change_history authenticated: select
  channels authenticated: select, insert (org_id kind label target_sealed target_masked
    config_sealed config_masked enabled signing_secret_sealed messages language time_zone), update (org_id label
    target_sealed target_masked config_sealed config_masked enabled status disabled_reason
    signing_secret_sealed failures paused_until deleted_at former_secrets_sealed messages
    failing_reason failing_since language time_zone)
  channels watchpost_jobs: select, update (target_sealed target_masked enabled status
    disabled_reason failures paused_until failing_reason failing_since)
  deliveries authenticated: select
  deliveries watchpost_jobs: select
  delivery_attempts authenticated: select
  delivery_attempts watchpost_jobs: select, insert
  drills watchpost_jobs: select
  event_revisions authenticated: select
  event_revisions watchpost_jobs: select
  events authenticated: select
  events watchpost_jobs: select
  evidence authenticated: select
  feed_links authenticated: select (id zone_id owner_id label created_at rotated_at), insert
    (zone_id label token_hash), update (token_hash), delete
  heartbeat watchpost_jobs: select
  key_usage authenticated: select
  mainshocks watchpost_jobs: select
  match_memory watchpost_jobs: select, insert, update, delete
  members authenticated: select (id org_id user_id email role status invited_by
    invite_expires_at joined_at created_at), insert (org_id email role invited_by invite_hash
    invite_expires_at), update (role invited_by invite_hash invite_expires_at), delete
  organisations authenticated: select
  organisations watchpost_jobs: select
  passing_positions watchpost_jobs: select
  positions authenticated: select
  positions watchpost_jobs: select
  sources watchpost_jobs: select, insert, update
  visibility_changes authenticated: select
  zone_boxes watchpost_jobs: select
  zone_changes watchpost_jobs: select
  zone_shapes authenticated: select
  zone_shapes watchpost_jobs: select
  zone_versions authenticated: select
  zone_versions watchpost_jobs: select
  zones authenticated: select, insert (org_id label lat lon radius_km shape_type polygon match
    min_severity severity_multiplier dwell_minutes quiet_hours_start quiet_hours_end
    quiet_hours_tz quiet_mode emergency_severity color icon channel_ids sources types
    snoozed_until enabled boxes quiet_windows aftershocks max_alerts_per_hour escalation external_id), update (org_id label lat lon radius_km shape_type polygon
    match min_severity severity_multiplier dwell_minutes quiet_hours_start quiet_hours_end
    quiet_hours_tz quiet_mode emergency_severity color icon channel_ids sources types
    snoozed_until enabled boxes deleted_at quiet_windows aftershocks max_alerts_per_hour
    escalation external_id)
  zones watchpost_jobs: select`)

/** Every policy; none is restrictive. */
export const POLICIES = lines(`
  account_states account_states_jobs select to watchpost_jobs
  accounts accounts_jobs select to watchpost_jobs
  accounts accounts_select select to authenticated
  alert_events alert_events_jobs all to watchpost_jobs
  alert_events alert_events_select select to authenticated
  alert_steps alert_steps_jobs select to watchpost_jobs
  alert_steps alert_steps_select select to authenticated
  alerts alerts_jobs all to watchpost_jobs
  alerts alerts_select select to authenticated
  alerts alerts_update update to authenticated
  api_keys api_keys_select select to authenticated
  audit audit_select select to authenticated
  batches batches_jobs all to watchpost_jobs
  change_history change_history_select select to authenticated
  channels channels_insert insert to authenticated
  channels channels_jobs select to watchpost_jobs
  channels channels_jobs_update update to watchpost_jobs
  channels channels_select select to authenticated
  channels channels_update update to authenticated
  deliveries deliveries_jobs select to watchpost_jobs
  deliveries deliveries_select select to authenticated
  delivery_attempts delivery_attempts_jobs all to watchpost_jobs
  delivery_attempts delivery_attempts_select select to authenticated
  drills drills_jobs select to watchpost_jobs
  event_revisions event_revisions_jobs select to watchpost_jobs
  event_revisions event_revisions_select select to authenticated
  events events_jobs select to watchpost_jobs
  events events_select select to authenticated
  evidence evidence_select select to authenticated
  feed_links feed_links_delete delete to authenticated
  feed_links feed_links_insert insert to authenticated
  feed_links feed_links_select select to authenticated
  feed_links feed_links_update update to authenticated
  heartbeat heartbeat_jobs select to watchpost_jobs
  key_usage key_usage_select select to authenticated
  mainshocks mainshocks_jobs select to watchpost_jobs
  match_memory match_memory_jobs all to watchpost_jobs
  members members_delete delete to authenticated
  members members_insert insert to authenticated
  members members_select select to authenticated
  members members_update update to authenticated
  organisations organisations_jobs select to watchpost_jobs
  organisations organisations_select select to authenticated
  passing_positions passing_positions_jobs select to watchpost_jobs
  positions positions_jobs select to watchpost_jobs
  positions positions_select select to authenticated
  sources sources_jobs all to watchpost_jobs
  visibility_changes visibility_changes_select select to authenticated
  zone_boxes zone_boxes_jobs select to watchpost_jobs
  zone_changes zone_changes_jobs select to watchpost_jobs
  zone_shapes zone_shapes_jobs select to watchpost_jobs
  zone_shapes zone_shapes_select select to authenticated
  zone_versions zone_versions_jobs select to watchpost_jobs
  zone_versions zone_versions_select select to authenticated
  zones zones_insert insert to authenticated
  zones zones_jobs select to watchpost_jobs
  zones zones_select select to authenticated
  zones zones_update update to authenticated`)

/** What the API's login may call by itself, before it is anybody. */
export const LOGIN_FUNCTIONS = lines(`
  private.acknowledge_alert
  private.add_issuer_key
  private.address_behind_link
  private.alert_behind_link
  private.check_key
  private.check_session
  private.confirm_address
  private.end_sessions
  private.evidence_public_keys
  private.feed_of
  private.issuer_keys
  private.key_claims
  private.record_refusal
  private.redeem_link
  private.refresh_session
  private.session_claims
  private.session_of
  private.sources_health
  private.touch_key
  private.unsubscribe_address`)

/** Tables no caller reads at all. */
export const CLOSED = lines(`
  account_states
  batches
  blind_zones
  blindness
  channel_troubles
  drills
  erased_accounts
  event_aliases
  evidence_due
  evidence_keys
  heartbeat
  hosts
  idempotency_keys
  issuer_keys
  mainshocks
  match_memory
  operator_acts
  operator_sessions
  passing_positions
  rate_denials
  rate_limits
  refresh_tokens
  retention
  sessions
  sign_in_links
  source_hours
  sources
  subjects
  zone_boxes
  zone_changes`)

/**
 * Which rows of two tenants and a shared organisation each actor reads and changes; see world.ts for
 * the words. What is missing here is denied to everybody.
 */
export const REACH = lines(`
  accounts select: owner owner; admin admin; member member; stranger stranger; reader owner;
    nobody -; anon denied
  alert_events select: owner private shared; admin shared; member shared; stranger foreign;
    reader private shared; nobody -; anon denied
  alert_steps select: owner private shared; admin shared; member shared; stranger foreign;
    reader private shared; nobody -; anon denied
  alerts select: owner private shared; admin shared; member shared; stranger foreign; reader
    private shared; nobody -; anon denied
  alerts update: owner private shared; admin shared; member shared; stranger foreign; reader -;
    nobody -; anon denied
  api_keys select: owner private; admin -; member -; stranger foreign; reader private; nobody -;
    anon denied
  audit select: owner private; admin -; member -; stranger foreign; reader private; nobody -;
    anon denied
  change_history select: owner row; admin row; member row; stranger row; reader row; nobody -;
    anon denied
  channels select: owner private shared; admin shared; member shared; stranger foreign; reader
    private shared; nobody -; anon denied
  channels update: owner private shared; admin shared; member -; stranger foreign; reader -;
    nobody -; anon denied
  deliveries select: owner blind mixed private shared; admin shared; member shared; stranger
    foreign; reader blind mixed private shared; nobody -; anon denied
  delivery_attempts select: owner blind mixed private shared; admin shared; member shared; stranger
    foreign; reader blind mixed private shared; nobody -; anon denied
  event_revisions select: owner private public shared; admin public shared; member public
    shared; stranger foreign public; reader private public shared; nobody public; anon denied
  events select: owner private public shared; admin public shared; member public shared;
    stranger foreign public; reader private public shared; nobody public; anon denied
  evidence select: owner private shared; admin shared; member shared; stranger foreign; reader
    private shared; nobody -; anon denied
  feed_links select: owner private shared; admin shared; member -; stranger foreign; reader
    private shared; nobody -; anon denied
  feed_links update: owner private shared; admin shared; member -; stranger foreign; reader -;
    nobody -; anon denied
  feed_links delete: owner private shared; admin shared; member -; stranger foreign; reader -;
    nobody -; anon denied
  key_usage select: owner private; admin -; member -; stranger foreign; reader private; nobody
    -; anon denied
  members select: owner admin@team invited@team member@team owner@team; admin admin@team
    invited@team member@team owner@team; member admin@team invited@team member@team owner@team;
    stranger invited@theirs stranger@theirs; reader admin@team invited@team member@team
    owner@team; nobody -; anon denied
  members update: owner admin@team invited@team member@team; admin admin@team invited@team
    member@team; member -; stranger invited@theirs; reader -; nobody -; anon denied
  members delete: owner admin@team invited@team member@team; admin admin@team invited@team
    member@team; member -; stranger invited@theirs; reader -; nobody -; anon denied
  organisations select: owner shared; admin shared; member shared; stranger foreign; reader
    shared; nobody -; anon denied
  positions select: owner private public shared; admin public shared; member public shared;
    stranger foreign public; reader private public shared; nobody public; anon denied
  visibility_changes select: owner private public shared; admin public shared; member public
    shared; stranger foreign public; reader private public shared; nobody -; anon denied
  zone_shapes select: owner private shared; admin shared; member shared; stranger foreign; reader
    private shared; nobody -; anon denied
  zone_versions select: owner private shared; admin shared; member shared; stranger foreign;
    reader private shared; nobody -; anon denied
  zones select: owner private shared; admin shared; member shared; stranger foreign; reader
    private shared; nobody -; anon denied
  zones update: owner private shared; admin shared; member -; stranger foreign; reader -; nobody
    -; anon denied`)

/** One entry a line; a line that is further in goes on with the one above. */
function lines(text: string): string[] {
  return text
    .replaceAll(/\n {4}/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
