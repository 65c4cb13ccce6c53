#!/bin/sh
# Installs, upgrades and removes Watchpost Hub on Debian 12+ and Ubuntu 22.04+ (x86-64, systemd).
#
#   curl -fsSL <install_url>/install.sh | sudo sh -s -- [options]
#   sudo sh install.sh --bundle=watchpost-hub-<version>-linux-x64.tar.gz [options]
#
# Running it again completes an interrupted run, or upgrades. Exit codes: 0 done, 2 wrong usage,
# 3 unsupported system, 4 not root, 5 too little memory, 6 too little disk space, 7 port in use,
# 8 verification failed, 9 another run is active, 10 the installation or the start failed.
set -eu
umask 077

# Filled in by the build.
VERSION_BUILT='@VERSION@'
INSTALL_URL_BUILT='@INSTALL_URL@'
NODE_SHA256='@NODE_SHA256@'
VERIFY_SHA256='@VERIFY_SHA256@'

OPT=/opt/watchpost
ETC=/etc/watchpost
PROMPTS=/opt/ceo-runner/prompts
UNITS=/etc/systemd/system
CRON=/etc/cron.d/watchpost
COMMAND=/usr/local/bin/watchpost-hub
SITE=/etc/nginx/conf.d/watchpost-hub.conf
LOCK=/run/watchpost-hub-install.lock
LOG=/var/log/watchpost-hub-install.log
WORK=/var/cache/watchpost-hub
# The hub's unit pulls in the socket; systemd starts one service instance per connection.
READER_UNITS='watchpost-reader.socket watchpost-reader@.service'
LICENSE_CHARACTERS='A-Za-z0-9._-'

usage() {
  cat << 'END'
install.sh [options]

  --license=KEY        the license key (WATCHPOST_LICENSE keeps it out of the output of ps)
  --license-file=FILE  a file with the license key
  --version=VERSION    the version to download (default: the one this script was built for)
  --model=7b|4b|1.7b|none|PATH
                       the language model: a preset for the hub to download, none, or the path
                       of a GGUF file (default: chosen by this machine's memory)
  --bind=ADDRESS       where nginx listens: 127.0.0.1 (default), an address of this machine, or
                       0.0.0.0 for all; always with TLS beyond loopback
  --public=hub|unsubscribe
                       what is published beyond loopback: the whole hub (default), or only the
                       unsubscribe links in mails; the web interface is then only reachable at
                       127.0.0.1 (ssh -L 8080:127.0.0.1:80)
  --data-dir=FOLDER    the folder of projects, models, backups and the database
                       (default: /var/lib/watchpost)
  --bundle=FILE        installs from this file instead of downloading
  --offline            never uses the network
  --yes                does not ask for confirmation
  --check              only checks whether this machine can run the hub
  --no-start           installs the hub without starting it
  --uninstall          removes the hub and keeps its data; with --purge also the data
  --help               shows this text

Each option can also be set in the environment: --data-dir as WATCHPOST_DATA_DIR, --yes as
WATCHPOST_YES=1.
END
}

# --- Options --------------------------------------------------------------------------------------

read_options() {
  license=${WATCHPOST_LICENSE:-}
  license_file=${WATCHPOST_LICENSE_FILE:-}
  version=${WATCHPOST_VERSION:-$VERSION_BUILT}
  model=${WATCHPOST_MODEL:-}
  bind=${WATCHPOST_BIND:-}
  public=${WATCHPOST_PUBLIC:-}
  data_dir=${WATCHPOST_DATA_DIR:-}
  bundle=${WATCHPOST_BUNDLE:-}
  offline=${WATCHPOST_OFFLINE:-}
  yes=${WATCHPOST_YES:-}
  check_only=${WATCHPOST_CHECK:-}
  no_start=${WATCHPOST_NO_START:-}
  uninstall=${WATCHPOST_UNINSTALL:-}
  purge=${WATCHPOST_PURGE:-}
  while [ $# -gt 0 ]; do
    case $1 in
      --license=*) license=${1#*=} ;;
      --license-file=*) license_file=${1#*=} ;;
      --version=*) version=${1#*=} ;;
      --model=*) model=${1#*=} ;;
      --bind=*) bind=${1#*=} ;;
      --public=*) public=${1#*=} ;;
      --data-dir=*) data_dir=${1#*=} ;;
      --bundle=*) bundle=${1#*=} ;;
      --offline) offline=1 ;;
      --yes) yes=1 ;;
      --check) check_only=1 ;;
      --no-start) no_start=1 ;;
      --uninstall) uninstall=1 ;;
      --purge) purge=1 ;;
      -h | --help)
        usage
        exit 0
        ;;
      *) refuse 2 "unknown option $1. See --help." ;;
    esac
    shift
  done
  if [ -n "$purge" ] && [ -z "$uninstall" ]; then
    refuse 2 '--purge can only be used with --uninstall. See --help.'
  fi
  if [ -n "$license_file" ]; then
    [ -r "$license_file" ] || refuse 2 "--license-file: $license_file cannot be read."
    license=$(tr -d '[:space:]' < "$license_file")
  fi
  case $license in
    *[!$LICENSE_CHARACTERS]*) refuse 2 '--license is not a license key: it contains characters that no key has.' ;;
  esac
  case $version in
    *[!0-9A-Za-z.-]*) refuse 2 "--version: $version is not a version such as 1.2.3." ;;
  esac
  case $bind in
    '' | *[!0-9a-fA-F.:]*) [ -z "$bind" ] || refuse 2 "--bind: $bind is not an IP address." ;;
  esac
  case $public in
    '' | hub | unsubscribe) ;;
    *) refuse 2 '--public must be hub or unsubscribe.' ;;
  esac
  case $data_dir in
    '' | /*) ;;
    *) refuse 2 '--data-dir must be an absolute path.' ;;
  esac
  case $data_dir in
    *[!A-Za-z0-9/._-]*) refuse 2 '--data-dir may only contain letters, digits and / . _ -' ;;
    */../* | */.. | /) refuse 2 "--data-dir: $data_dir cannot be used as a data folder." ;;
  esac
  case $model in
    '' | 7b | 4b | 1.7b | none) ;;
    /*) [ -r "$model" ] || refuse 2 "--model: $model cannot be read." ;;
    *) refuse 2 '--model must be 7b, 4b, 1.7b, none or the absolute path of a GGUF file.' ;;
  esac
}

# Options of an earlier run apply until they are given again.
remember_options() {
  : "${data_dir:=$(fact data_dir)}"
  : "${data_dir:=/var/lib/watchpost}"
  data_dir=${data_dir%/}
  : "${bind:=$(fact bind)}"
  : "${bind:=127.0.0.1}"
  : "${public:=$(fact public)}"
  : "${public:=hub}"
  known=$(fact data_dir)
  if [ -n "$known" ] && [ "$known" != "$data_dir" ]; then
    refuse 2 "this hub keeps its data in $known. Leave --data-dir out, or uninstall first."
  fi
}

# --- Output ---------------------------------------------------------------------------------------

say() {
  printf '%s\n' "$*"
  if [ -n "${log_ready:-}" ]; then printf '%s %s\n' "$(date -u +%FT%TZ)" "$*" >> "$LOG"; fi
}

refuse() {
  code=$1
  shift
  printf 'watchpost-hub: %s\n' "$*" >&2
  if [ -n "${log_ready:-}" ]; then
    printf '%s refused (%s): %s\n' "$(date -u +%FT%TZ)" "$code" "$*" >> "$LOG"
  elif [ -n "${locked:-}" ]; then
    # Nothing is installed yet: clean up, but keep a partial download so that it can be resumed.
    rm -rf "$WORK/bundle" "$WORK/verify.err"
    rmdir "$WORK" 2> /dev/null || :
  fi
  exit "$code"
}

# --- Checks of this machine -----------------------------------------------------------------------

check_root() {
  [ "$(id -u)" -eq 0 ] || refuse 4 'the installer needs root. Run it with sudo.'
}

take_lock() {
  exec 9> "$LOCK"
  flock -n 9 || refuse 9 'another run of the installer is active. Wait for it to finish.'
  locked=1
}

check_system() {
  architecture=$(uname -m)
  case $architecture in
    x86_64) ;;
    aarch64 | arm64) refuse 3 'there is no bundle for arm64 yet. Use an x86-64 machine.' ;;
    *) refuse 3 "$architecture is not supported. Use an x86-64 machine." ;;
  esac
  [ -r /etc/os-release ] || refuse 3 'this system has no /etc/os-release. Use Debian 12+ or Ubuntu 22.04+.'
  os=$(os_release ID)
  release=$(os_release VERSION_ID)
  case $os in
    debian) oldest=12.0 ;;
    ubuntu) oldest=22.04 ;;
    *) refuse 3 "$os is not supported. Use Debian 12 or newer, or Ubuntu 22.04 or newer." ;;
  esac
  at_least "$release" "$oldest" ||
    refuse 3 "$os $release is too old. Use Debian 12 or newer, or Ubuntu 22.04 or newer."
  libc=$(getconf GNU_LIBC_VERSION 2> /dev/null | cut -d' ' -f2)
  at_least "${libc:-0}" 2.34 || refuse 3 "the C library is too old (${libc:-none}): glibc 2.34 or later is required."
  [ -d /run/systemd/system ] || refuse 3 'systemd is not running, and the hub needs it.'
  command -v nginx > /dev/null || can_fetch_nginx ||
    refuse 3 'nginx is missing. Install it (apt-get install nginx-light) and run this again.'
}

os_release() {
  sed -n "s/^$1=//p" /etc/os-release | tr -d '"'
}

can_fetch_nginx() {
  [ -z "$offline" ] && command -v apt-get > /dev/null
}

# at_least A B: succeeds if version A is at least version B (x.y, compared as numbers).
at_least() {
  awk -v a="$1" -v b="$2" 'BEGIN {
    split(a, x, "."); split(b, y, ".")
    exit !(x[1] + 0 > y[1] + 0 || (x[1] + 0 == y[1] + 0 && x[2] + 0 >= y[2] + 0))
  }'
}

check_memory() {
  memory_kb=$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)
  # A machine with 4 GB reports less than 4 GiB.
  [ "$memory_kb" -ge 3670016 ] ||
    refuse 5 "this machine has $((memory_kb / 1024)) MiB of memory; at least 3.5 GiB are required (a machine with 4 GB)."
}

choose_model() {
  if [ -n "$model" ]; then
    model_why='as requested'
    return
  fi
  if [ -r "$ETC/models.json" ]; then
    model=kept
    model_why='as already configured'
    return
  fi
  gib=$((memory_kb / 1048576))
  if [ "$memory_kb" -ge 7340032 ]; then
    model=7b
    model_why="this machine has $gib GiB of memory; the 7B model needs about 6 GiB"
  elif [ "$memory_kb" -ge 6291456 ]; then
    model=4b
    model_why="this machine has $gib GiB of memory; the 7B model would need a machine with 7 GiB"
  else
    model=1.7b
    model_why="this machine has $gib GiB of memory; the 4B model would need a machine with 6 GiB"
  fi
}

# The disk space that the chosen model needs, in MiB.
model_mib() {
  case $model in
    7b) echo 4800 ;;
    4b) echo 2600 ;;
    1.7b) echo 1900 ;;
    /*) echo $(($(wc -c < "$model") / 1048576 + 1)) ;;
    *) echo 0 ;;
  esac
}

check_disk() {
  place=$data_dir
  while [ ! -d "$place" ]; do place=$(dirname "$place"); done
  # shellcheck disable=SC2046
  set -- $(df -Pk "$place" | awk 'NR == 2 { print $2, $4 }')
  total_mib=$(($1 / 1024))
  free_mib=$(($2 / 1024))
  [ "$total_mib" -ge 18432 ] ||
    refuse 6 "the disk of $data_dir has $((total_mib / 1024)) GiB; at least 18 GiB are required (a disk of 20 GB). Choose another folder with --data-dir."
  # An installed hub already has its space.
  if installed; then return; fi
  needed_mib=$((8192 + $(model_mib)))
  [ "$free_mib" -ge "$needed_mib" ] ||
    refuse 6 "the disk of $data_dir has $free_mib MiB free; $needed_mib MiB are required. Free some space, choose another folder with --data-dir, or start with --model=none."
}

check_ports() {
  if ! systemctl -q is-active watchpost-hub.service; then require_free 8770 'the hub'; fi
  if ! systemctl -q is-active watchpost-postgres.service; then require_free 8771 'its database'; fi
  if ! systemctl -q is-active nginx.service; then
    require_free 80 nginx
    if ! is_loopback "$bind"; then require_free 443 nginx; fi
  fi
}

# Whoever can write to a folder above the data could replace it with another while root works in it.
check_place() {
  parent=$data_dir
  while [ "$parent" != / ]; do
    parent=$(dirname "$parent")
    if [ ! -e "$parent" ]; then continue; fi
    case $(stat -L -c '%u:%g:%A' "$parent") in
      0:*:????????w* | 0:[1-9]*:?????w*) ;;
      0:*) continue ;;
    esac
    refuse 2 "--data-dir: users other than root can write to $parent. Choose a folder below folders that only root can write to."
  done
}

require_free() {
  hex=$(printf ':%04X' "$1")
  if cat /proc/net/tcp /proc/net/tcp6 2> /dev/null |
    awk -v port="$hex" '$4 == "0A" && substr($2, length($2) - 4) == port { found = 1 } END { exit !found }'; then
    refuse 7 "port $1, which $2 needs, is in use. Stop the program that listens on it (ss -ltnp shows which) and run this again."
  fi
}

is_loopback() {
  case $1 in
    127.* | ::1) return 0 ;;
    *) return 1 ;;
  esac
}

installed() {
  [ -L "$OPT/current" ] && [ -x "$OPT/current/bin/node" ]
}

# --- Facts for later runs -------------------------------------------------------------------------

fact() {
  if [ -r "$OPT/install.facts" ]; then sed -n "s/^$1=//p" "$OPT/install.facts" | tail -n 1; fi
}

keep_fact() {
  mkdir -p "$OPT"
  chmod 755 "$OPT"
  { if [ -r "$OPT/install.facts" ]; then grep -v "^$1=" "$OPT/install.facts" || :; fi
    printf '%s=%s\n' "$1" "$2"
  } > "$OPT/install.facts.new"
  mv "$OPT/install.facts.new" "$OPT/install.facts"
}

# --- Steps: each can be run again -----------------------------------------------------------------

step() {
  say "  $1"
}

fetch_bundle() {
  if [ -n "$bundle" ]; then
    [ -r "$bundle" ] || refuse 2 "--bundle: $bundle cannot be read."
    return
  fi
  [ -z "$offline" ] || refuse 2 '--offline needs --bundle=FILE.'
  [ -n "$INSTALL_URL_BUILT" ] || refuse 2 'this installer has no download address. Use --bundle=FILE.'
  step 'Downloading'
  mkdir -p "$WORK"
  bundle=$WORK/watchpost-hub-$version-linux-x64.tar.gz
  curl -fL --retry 3 --proto '=https' --progress-bar -C - -o "$bundle" \
    "$INSTALL_URL_BUILT/watchpost-hub-$version-linux-x64.tar.gz" ||
    refuse 8 "version $version could not be downloaded from $INSTALL_URL_BUILT. Try again, or use --bundle=FILE."
}

# Nothing from the bundle runs before its checksum is verified.
verify_bundle() {
  step 'Verifying'
  rm -rf "$WORK/bundle"
  mkdir -p "$WORK/bundle"
  tar -xzf "$bundle" -C "$WORK/bundle" --no-same-owner \
    node verify.ts install.sh manifest.json manifest.json.sig payload.tar.gz 2> /dev/null || refuse 8 "$bundle is incomplete or damaged. Download it again."
  printf '%s  %s\n%s  %s\n' "$NODE_SHA256" "$WORK/bundle/node" "$VERIFY_SHA256" "$WORK/bundle/verify.ts" |
    sha256sum --check --status ||
    refuse 8 "$bundle was altered, or belongs to another version of this installer. Download both again."
  chmod 700 "$WORK/bundle/node"
  target=$("$WORK/bundle/node" "$WORK/bundle/verify.ts" "$WORK/bundle/manifest.json" \
    "$WORK/bundle/manifest.json.sig" "$WORK/bundle" 2> "$WORK/verify.err") ||
    refuse 8 "the bundle could not be verified: $(cat "$WORK/verify.err"). Download it again."
}

make_users() {
  for user in watchpost watchpost-db; do
    if ! id "$user" > /dev/null 2>&1; then
      useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "$user"
    fi
  done
}

# In its own folders the hub's user can replace anything with a symbolic link at any moment, so root
# works there as that user. The sticky bit protects what belongs to root or the database user.
as_service() {
  (cd / && exec setpriv --reuid=watchpost --regid=watchpost --clear-groups "$@")
}

as_database() {
  (cd / && exec setpriv --reuid=watchpost-db --regid=watchpost-db --clear-groups "$@")
}

# write_as USER FILE: writes standard input to a file, atomically.
write_as() {
  # shellcheck disable=SC2016
  "as_$1" sh -c 'umask 077 && cat > "$1.new" && mv -T "$1.new" "$1"' sh "$2"
}

# is_of USER FOLDER: succeeds if it is a folder (not a link to one) that belongs to the user.
is_of() {
  [ ! -L "$2" ] && [ -d "$2" ] && [ "$(stat -c %U "$2")" = "$1" ]
}

# require_of USER FOLDER: refuses unless nothing is there, or a folder that belongs to the user.
require_of() {
  if [ ! -e "$2" ] && [ ! -L "$2" ]; then return; fi
  is_of "$1" "$2" || refuse 10 "$2 is not a folder that belongs to $1. Check what it is, move it away, and run this again."
}

make_folders() {
  install -d -m 755 "$OPT" "$OPT/releases" /opt/ceo-runner
  install -d -m 750 -o watchpost -g watchpost "$PROMPTS"
  install -d -m 1770 -o root -g watchpost "$ETC"
  # The database's user must be able to reach its folder.
  install -d -m 1771 -o root -g watchpost "$data_dir"
  mine=$data_dir/.install
  mkdir -m 711 "$mine" 2> /dev/null || :
  require_of root "$mine"
  require_of watchpost-db "$data_dir/postgres"
  require_of root "$ETC/tls"
  as_service mkdir -p -m 750 "$data_dir/projects" "$data_dir/models" "$data_dir/backups" ||
    refuse 10 "the folders in $data_dir could not be created. Check what is in their place, and run this again."
}

unpack() {
  release_dir=$OPT/releases/$target
  if [ -e "$release_dir" ]; then return; fi
  step "Unpacking version $target"
  rm -rf "$OPT/releases/.new"
  mkdir "$OPT/releases/.new"
  (umask 022 && tar -xzf "$WORK/bundle/payload.tar.gz" -C "$OPT/releases/.new" --no-same-owner)
  install -D -m 755 "$WORK/bundle/node" "$OPT/releases/.new/bin/node"
  # `watchpost-hub upgrade` and `uninstall` run the installer of the current release.
  install -m 755 "$WORK/bundle/install.sh" "$OPT/releases/.new/install.sh"
  chmod 755 "$OPT/releases/.new"
  mv "$OPT/releases/.new" "$release_dir"
}

switch_to() {
  ln -sfn "$1" "$OPT/current.new"
  mv -T "$OPT/current.new" "$OPT/current"
}

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
  systemctl start watchpost-postgres.service ||
    refuse 10 'the database did not start. journalctl -u watchpost-postgres shows why.'
}

prepare_database() {
  step 'Preparing the database'
  names="$(hostname) $(hostname -I 2> /dev/null || :)"
  if ! is_loopback "$bind" && [ "$bind" != 0.0.0.0 ] && [ "$bind" != :: ]; then names="$names $bind"; fi
  setup_code=$(HUB_CONFIG_DIR=$ETC HUB_DATA_DIR=$data_dir HUB_PROMPTS_DIR=$PROMPTS \
    HUB_OWNER_URL='postgres://postgres@localhost/postgres?host=/run/watchpost-db&port=8771' \
    HUB_HOSTS=$(printf '%s' "$names" | tr -s '[:space:]' ' ') HUB_LICENSE=$license HUB_USER=watchpost \
    "$release_dir/bin/node" "$release_dir/hub/install/prepare.ts" 2>> "$LOG") || return 1
}

set_model() {
  case $model in
    /*)
      step 'Copying the model'
      file=$data_dir/models/$(basename "$model")
      if [ "$model" != "$file" ]; then
        write_as service "$file" < "$model" ||
          refuse 10 "the model could not be copied to $file. Check what is in its place, and run this again."
      fi
      write_model "{ \"kind\": \"local\", \"file\": \"$file\" }"
      ;;
    *) ;;
  esac
  keep_fact model "$model"
}

write_model() {
  printf '%s\n' "$1" | write_as service "$ETC/models.json"
}

start_hub() {
  systemctl restart watchpost-model.service watchpost-hub.service || return 1
  is_healthy
}

# Has the hub download the preset; without a network, Settings > Models can start it later.
fetch_model() {
  case $model in
    7b) preset=qwen2.5-7b ;;
    4b) preset=qwen3-4b ;;
    1.7b) preset=qwen3-1.7b ;;
    *) return 0 ;;
  esac
  if [ -n "$offline" ] || [ -r "$ETC/models.json" ]; then
    model_why="$model_why; download it in Settings > Models, or install its file with --model=PATH"
    return 0
  fi
  if HUB_TOKEN=$(as_service cat "$ETC/hub.token") "$OPT/current/bin/node" -e '
    fetch("http://127.0.0.1:8770/api/cockpit/model/download", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer " + process.env.HUB_TOKEN },
      body: JSON.stringify({ preset: process.argv[1] }),
    }).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))' \
    "$preset"; then
    model_why="$model_why; it is being downloaded, Settings > Models shows the progress"
  else
    model_why="$model_why; the download did not start, start it in Settings > Models"
  fi
}

# Waits up to 60 seconds, which a busy machine may need.
is_healthy() {
  tries=0
  while [ "$tries" -lt 120 ]; do
    if "$OPT/current/bin/node" -e '
      fetch("http://127.0.0.1:8770/api/cockpit/health", { signal: AbortSignal.timeout(2000) })
        .then(async (r) => process.exit(r.ok && (await r.json()).version === process.argv[1] ? 0 : 1))
        .catch(() => process.exit(1))' "$target"; then
      return 0
    fi
    tries=$((tries + 1))
    sleep 0.5
  done
  return 1
}

write_site() {
  if ! command -v nginx > /dev/null; then
    step 'Installing nginx'
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq nginx-light >> "$LOG" 2>&1 ||
      refuse 10 'nginx could not be installed. Install it (apt-get install nginx-light) and run this again.'
    keep_fact nginx ours
  fi
  if is_loopback "$bind"; then names=localhost; else
    make_certificate
    names="$(hostname) $(hostname -I)"
  fi
  limits=yes
  if nginx -V 2>&1 | grep -q -e --without-http_limit_req_module; then
    limits=no
    say '  This nginx cannot limit requests: apt-get install nginx-core, then run this again.'
  fi
  SITE_FILE=$SITE SITE_BIND=$bind SITE_PUBLIC=$public SITE_NAMES=$names SITE_TLS_DIR=$ETC/tls \
    SITE_SECRET=$ETC/proxy.secret SITE_PROXY=$OPT/nginx-proxy.conf SITE_LIMITS=$limits \
    "$release_dir/bin/node" "$release_dir/hub/install/write-site.ts" 2>> "$LOG" ||
    refuse 10 "the nginx configuration could not be written. The end of $LOG shows why."
  nginx -t 2>> "$LOG" || refuse 10 "nginx rejects its configuration. nginx -t shows why; the hub's part is $SITE."
  if [ -z "$no_start" ]; then
    systemctl -q enable nginx.service
    systemctl reload-or-restart nginx.service
    is_answered || refuse 10 "the hub cannot be reached through nginx. journalctl -u nginx shows why; the hub's part is $SITE."
  fi
}

# A reload returns before the new workers answer.
is_answered() {
  answers_at=$bind
  if [ "$public" = unsubscribe ] && ! is_loopback "$bind"; then answers_at=127.0.0.1; fi
  case $answers_at in
    0.0.0.0) site=https://127.0.0.1 ;;
    ::) site='https://[::1]' ;;
    ::1) site='http://[::1]' ;;
    *:*) site=https://[$answers_at] ;;
    127.*) site=http://$answers_at ;;
    *) site=https://$answers_at ;;
  esac
  tries=0
  while [ "$tries" -lt 60 ]; do
    # The certificate may be self-signed.
    if NODE_TLS_REJECT_UNAUTHORIZED=0 NODE_NO_WARNINGS=1 "$OPT/current/bin/node" -e '
      fetch(process.argv[1] + "/api/cockpit/health", { signal: AbortSignal.timeout(2000) })
        .then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))' "$site"; then
      return 0
    fi
    tries=$((tries + 1))
    sleep 0.5
  done
  return 1
}

# Makes a self-signed certificate, until the admin replaces it.
make_certificate() {
  if [ -e "$ETC/tls/hub.crt" ]; then return; fi
  step 'Creating a certificate'
  mkdir -m 750 "$ETC/tls" 2> /dev/null || :
  require_of root "$ETC/tls"
  alternatives=$(for name in $(hostname -I); do printf 'IP:%s,' "$name"; done)DNS:$(hostname)
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 825 \
    -subj "/CN=$(hostname)" -addext "subjectAltName=$alternatives" \
    -keyout "$ETC/tls/hub.key.new" -out "$ETC/tls/hub.crt.new" 2>> "$LOG" ||
    refuse 10 "the certificate could not be created. Put your own in $ETC/tls/hub.crt and hub.key, and run this again."
  mv "$ETC/tls/hub.key.new" "$ETC/tls/hub.key"
  mv "$ETC/tls/hub.crt.new" "$ETC/tls/hub.crt"
}

write_cron() {
  if [ ! -d /etc/cron.d ]; then return; fi
  printf '%s\n' '# Watchpost Hub: a backup every night.' \
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
    "0 3 * * * watchpost $COMMAND backup --scheduled" > "$CRON.new"
  chmod 644 "$CRON.new"
  mv "$CRON.new" "$CRON"
}

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
  # An earlier run was killed during an upgrade: roll back, then upgrade again.
  old=$(fact upgrading_from)
  if [ -n "$old" ]; then roll_back; fi
  keep_fact data_dir "$data_dir"
  keep_fact bind "$bind"
  keep_fact public "$public"
  old=
  if [ -L "$OPT/current" ]; then old=$(readlink "$OPT/current"); fi
  unpack
  if [ -n "$old" ] && [ "$old" != "$release_dir" ] && [ -e "$data_dir/postgres/PG_VERSION" ]; then
    upgrade
  else
    first
  fi
  write_site
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
  start_database
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
  cp -a --reflink=auto -T "$data_dir/postgres" "$rescue"
  keep_fact upgrading_from "$old"
  make_cluster
  switch_to "$release_dir"
  write_units
  start_database
  if prepare_database && set_model && { [ -n "$no_start" ] || start_hub; }; then
    keep_fact upgrading_from ''
    rm -rf "$rescue"
    return
  fi
  roll_back
  refuse 10 "version $target did not start. Version ${old##*/} is running again with its data. journalctl -u watchpost-hub shows why."
}

# If it is killed, the next run completes it: the copy is kept until it is the database again.
roll_back() {
  step "Rolling back to ${old##*/}"
  systemctl stop watchpost-hub.service watchpost-model.service watchpost-postgres.service
  if [ -e "$rescue" ]; then
    rm -rf "$mine/postgres.failed"
    if [ -e "$data_dir/postgres" ]; then mv -T "$data_dir/postgres" "$mine/postgres.failed"; fi
    mv -T "$rescue" "$data_dir/postgres"
  fi
  switch_to "$old"
  release_dir=$old
  write_units
  keep_fact upgrading_from ''
  rm -rf "$mine/postgres.failed"
  systemctl start watchpost-postgres.service watchpost-model.service watchpost-hub.service
}

# --- Uninstall ------------------------------------------------------------------------------------

uninstall_hub() {
  if [ ! -e "$OPT" ] && [ ! -e "$UNITS/watchpost-hub.service" ] && [ ! -e "$ETC" ]; then
    say 'There is no hub on this machine.'
    return
  fi
  if [ -n "$purge" ] && [ -z "$yes" ]; then confirm_purge; fi
  nginx_was=$(fact nginx)
  for unit in watchpost-hub watchpost-model watchpost-postgres; do
    if [ -e "$UNITS/$unit.service" ]; then
      systemctl -q disable --now "$unit.service" || :
      rm -f "$UNITS/$unit.service"
    fi
  done
  if [ -e "$UNITS/watchpost-reader.socket" ]; then
    systemctl stop watchpost-reader.socket 'watchpost-reader@*.service' || :
    for unit in $READER_UNITS; do rm -f "$UNITS/$unit"; done
  fi
  systemctl daemon-reload
  rm -f "$CRON" "$COMMAND"
  if [ -e "$SITE" ]; then
    rm -f "$SITE"
    if systemctl -q is-active nginx.service; then systemctl reload nginx.service; fi
  fi
  rm -rf "${OPT:?}/releases" "$OPT/current" "$OPT/nginx-proxy.conf" "$WORK"
  if [ -z "$purge" ]; then
    say "The hub was removed. Its data is kept in $data_dir, $ETC and $PROMPTS; a new installation uses it again."
    return
  fi
  rm -rf "$OPT" "$ETC" "$PROMPTS" "$data_dir" "$LOG"
  log_ready=
  rmdir /opt/ceo-runner 2> /dev/null || :
  for user in watchpost watchpost-db; do
    if id "$user" > /dev/null 2>&1; then userdel "$user"; fi
  done
  if [ "$nginx_was" = ours ]; then
    say 'nginx, which the installer added, was kept: apt-get purge nginx-light removes it.'
  fi
  say 'The hub and all its data were removed.'
}

confirm_purge() {
  [ -t 0 ] || refuse 2 '--purge deletes all data. Confirm with --yes.'
  printf 'This deletes every project, mail and backup in %s. Type purge to continue: ' "$data_dir"
  read -r word
  [ "$word" = purge ] || refuse 2 'nothing was deleted.'
}

# --- Summary --------------------------------------------------------------------------------------

summary() {
  if is_loopback "$bind"; then url="http://$bind/hub/"; else url="https://$(hostname)/hub/"; fi
  if [ "$bind" != 0.0.0.0 ] && ! is_loopback "$bind"; then url="https://$bind/hub/"; fi
  if [ "$public" = unsubscribe ]; then url='http://127.0.0.1/hub/ (on this machine, or by ssh -L 8080:127.0.0.1:80)'; fi
  # The set-up code is a secret: it is shown, but not written to the log.
  log_ready=
  say ''
  say "Watchpost Hub $target is installed."
  say "  Open          $url"
  if [ -n "${setup_code:-}" ]; then say "  Set-up code   $setup_code (once, for the first password)"; fi
  say '  Service key   sudo watchpost-hub service-key show (paste it in the wizard; without it the hub is read-only)'
  say "  Model         $model: $model_why"
  say '  Check it with: sudo watchpost-hub doctor'
}

main() {
  log_ready=
  read_options "$@"
  check_root
  take_lock
  remember_options
  if [ -n "$uninstall" ]; then
    uninstall_hub
    return
  fi
  check_system
  check_memory
  choose_model
  check_disk
  check_place
  check_ports
  if [ -n "$check_only" ]; then
    say 'This machine can run Watchpost Hub.'
    return
  fi
  say 'Installing Watchpost Hub'
  install_hub
  summary
}

main "$@"
