# --- Install and upgrade --------------------------------------------------------------------------

install_hub() {
  fetch_bundle
  verify_bundle
  touch "$LOG"
  chmod 600 "$LOG"
  log_ready=1
  make_users
  make_folders
  rescue=$mine/postgres.before
  old=$(fact upgrading_from)
  if [ -n "$old" ]; then settle_killed; fi
  keep_fact data_dir "$data_dir"
  keep_fact bind "$bind"
  keep_fact public "$public"
  keep_fact name "$host_name"
  keep_fact acme "$acme"
  keep_fact acme_email "$acme_email"
  old=
  if [ -L "$OPT/current" ]; then old=$(readlink "$OPT/current"); fi
  unpack
  if [ -n "$old" ] && [ "$old" != "$release_dir" ] && [ -e "$data_dir/postgres/PG_VERSION" ]; then
    upgrade
  else
    first
  fi
  write_site
  get_certificate
  write_cron
  remove_old_releases
  rm -rf "$WORK"
}

# Keeps the current release and the previous one.
remove_old_releases() {
  for known in "$OPT"/releases/*; do
    if [ "$known" != "$release_dir" ] && [ "$known" != "$old" ]; then rm -rf "$known"; fi
  done
}

first() {
  make_cluster
  switch_to "$release_dir"
  write_units
  start_database || refuse 10 'the database did not start. journalctl -u watchpost-postgres shows why.'
  prepare_database || refuse 10 "the database could not be prepared. The end of $LOG shows why."
  set_model
  if [ -n "$no_start" ]; then return; fi
  step 'Starting'
  start_hub || refuse 10 'the hub did not start. journalctl -u watchpost-hub shows why. Then run this again.'
  fetch_model
}

# Backs up, copies the database, migrates, switches and checks health; rolls back if anything fails.
upgrade() {
  step "Upgrading from ${old##*/} to $target"
  if systemctl -q is-active watchpost-hub.service; then
    "$COMMAND" backup >> "$LOG" 2>&1 ||
      refuse 10 "the backup before the upgrade failed. Nothing was changed. The end of $LOG shows why."
  fi
  systemctl stop watchpost-hub.service watchpost-model.service watchpost-postgres.service
  rm -rf "$rescue"
  require_of watchpost-db "$data_dir/postgres"
  if ! cp -a --reflink=auto -T "$data_dir/postgres" "$rescue"; then
    rm -rf "$rescue"
    systemctl start watchpost-postgres.service watchpost-model.service watchpost-hub.service
    refuse 6 "the database could not be copied before the upgrade; the line above says why. Version ${old##*/} is running again, and nothing was changed. Free as much space as $data_dir/postgres takes, and run this again."
  fi
  keep_fact upgrading_from "$old"
  make_cluster
  switch_to "$release_dir"
  write_units
  if start_database && prepare_database && set_model && { [ -n "$no_start" ] || start_hub; }; then
    keep_fact upgrading_from ''
    rm -rf "$rescue"
    return
  fi
  roll_back
  refuse 10 "version $target did not start. Version ${old##*/} is running again with its data. The end of $LOG and journalctl -u watchpost-hub -u watchpost-postgres show why."
}

# An earlier run was killed during an upgrade. While the new version runs, people may have worked with it
# for weeks, so it stays with its data. Otherwise it is rolled back, and what it left is kept.
settle_killed() {
  running=$(readlink "$OPT/current" || :)
  if [ "$running" != "$old" ] && systemctl -q is-active watchpost-hub.service; then
    step "Keeping version ${running##*/}, which has been running since an earlier upgrade was interrupted"
    keep_fact upgrading_from ''
    rm -rf "$rescue"
    return
  fi
  # Only after the switch the new version touches the database.
  if [ "$running" = "$old" ]; then rm -rf "$rescue"; fi
  left=$mine/postgres.interrupted
  roll_back "$left"
  if [ -e "$left" ]; then say "  The database that the interrupted upgrade left is in $left. Delete it once you miss nothing."; fi
}

# For an uninstallation: the release to roll back to is gone then, and a new installation migrates what is
# there. The copy is the database where there is no other.
forget_killed() {
  if [ -z "$(fact upgrading_from)" ]; then return; fi
  rescue=$data_dir/.install/postgres.before
  if [ -e "$rescue" ] && [ ! -e "$data_dir/postgres" ]; then mv -T "$rescue" "$data_dir/postgres"; fi
  rm -rf "$rescue"
  keep_fact upgrading_from ''
}

# roll_back [FOLDER]: keeps the database of the new version in this folder, if one is given.
# If it is killed, the next run completes it: the copy is kept until it is the database again.
roll_back() {
  failed=${1:-$mine/postgres.failed}
  step "Rolling back to ${old##*/}"
  systemctl stop watchpost-hub.service watchpost-model.service watchpost-postgres.service
  if [ -e "$rescue" ]; then
    if [ -e "$data_dir/postgres" ]; then
      rm -rf "$failed"
      mv -T "$data_dir/postgres" "$failed"
    fi
    mv -T "$rescue" "$data_dir/postgres"
  fi
  switch_to "$old"
  release_dir=$old
  write_units
  keep_fact upgrading_from ''
  rm -rf "$mine/postgres.failed"
  systemctl start watchpost-postgres.service watchpost-model.service watchpost-hub.service
}
