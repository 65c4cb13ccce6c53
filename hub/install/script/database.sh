make_cluster() {
  cluster=$data_dir/postgres
  if [ ! -e "$cluster/PG_VERSION" ]; then
    step 'Creating the database'
    rm -rf "$mine/postgres.new"
    install -d -m 700 -o watchpost-db -g watchpost-db "$mine/postgres.new"
    as_database "$release_dir/postgres/bin/initdb" --pgdata="$mine/postgres.new" --username=postgres \
      --encoding=UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8 \
      --auth-local=peer --auth-host=scram-sha-256 --data-checksums --no-instructions >> "$LOG" 2>&1
    require_of watchpost-db "$cluster"
    if [ -d "$cluster" ]; then rmdir "$cluster"; fi
    mv -T "$mine/postgres.new" "$cluster"
  fi
  require_of watchpost-db "$cluster"
  for name in postgresql.conf pg_hba.conf; do
    write_as database "$cluster/$name" < "$release_dir/hub/install/$name"
  done
  printf 'owner root postgres\nowner watchpost-db postgres\n' | write_as database "$cluster/pg_ident.conf"
}

# fill FILE TARGET MODE: copies a file of the release and fills in its placeholders.
fill() {
  sed -e "s|@DATA_DIR@|$data_dir|g" -e "s|@MODEL_MEMORY@|$(model_memory)|g" "$1" > "$2.new"
  chmod "$3" "$2.new"
  mv "$2.new" "$2"
}

# The model may use all memory but 1.5 GiB, which is left for the hub, its database and the system.
model_memory() {
  echo "$((memory_kb / 1024 - 1536))M"
}

write_units() {
  for unit in watchpost-postgres watchpost-hub watchpost-model; do
    fill "$release_dir/hub/install/$unit.service" "$UNITS/$unit.service" 644
  done
  for unit in $READER_UNITS; do
    # A release from before the reader existed may be rolled back to.
    if [ ! -e "$release_dir/hub/install/$unit" ]; then continue; fi
    fill "$release_dir/hub/install/$unit" "$UNITS/$unit" 644
  done
  fill "$release_dir/hub/install/watchpost-hub" "$COMMAND" 755
  systemctl daemon-reload
  systemctl -q enable watchpost-postgres.service watchpost-hub.service watchpost-model.service
}

start_database() {
  systemctl start watchpost-postgres.service
}

prepare_database() {
  step 'Preparing the database'
  names="$(hostname) $(hostname -I 2> /dev/null || :)"
  if ! is_loopback "$bind" && [ "$bind" != 0.0.0.0 ] && [ "$bind" != :: ]; then names="$names $bind"; fi
  names="$names $host_name"
  setup_code=$(HUB_CONFIG_DIR=$ETC HUB_DATA_DIR=$data_dir HUB_PROMPTS_DIR=$PROMPTS \
    HUB_OWNER_URL='postgres://postgres@localhost/postgres?host=/run/watchpost-db&port=8771' \
    HUB_HOSTS=$(printf '%s' "$names" | tr -s '[:space:]' ' ') HUB_LICENSE=$license HUB_USER=watchpost \
    HUB_PUBLIC_URL=${host_name:+https://$host_name} \
    "$release_dir/bin/node" "$release_dir/hub/install/prepare.ts" 2>> "$LOG") || return 1
}
