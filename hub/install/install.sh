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
  --name=HOST          the DNS name at which people and mail programs reach this hub; with --bind.
                       A certificate for it comes from Let's Encrypt through certbot, which renews
                       it; port 80 must be reachable from the internet (none: without a name)
  --acme=URL|none      another certificate authority with ACME, or none: your own certificate
  --acme-email=ADDRESS where the authority sends warnings (default: none)
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
  host_name=${WATCHPOST_NAME:-}
  acme=${WATCHPOST_ACME:-}
  acme_email=${WATCHPOST_ACME_EMAIL:-}
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
      --name=*) host_name=${1#*=} ;;
      --acme=*) acme=${1#*=} ;;
      --acme-email=*) acme_email=${1#*=} ;;
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
  if [ -n "$host_name" ] && [ "$host_name" != none ] && ! is_host_name "$host_name"; then
    refuse 2 "--name: $host_name is not a DNS name such as hub.example.com."
  fi
  case $acme in
    '' | none) ;;
    *[!A-Za-z0-9.:/_-]*) refuse 2 "--acme: $acme is not the address of a certificate authority." ;;
    https://?*) ;;
    *) refuse 2 '--acme must be none or the https address of an ACME directory.' ;;
  esac
  case $acme_email in
    '') ;;
    *[!A-Za-z0-9.@_+-]* | -* | @* | *@ | *@*@*) refuse 2 "--acme-email: $acme_email is not an e-mail address." ;;
    *@*) ;;
    *) refuse 2 "--acme-email: $acme_email is not an e-mail address." ;;
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

# A DNS name with at least two labels, whose last one is no number.
is_host_name() {
  printf '%s\n' "$1" | LC_ALL=C grep -Eqix \
    '([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?'
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
  : "${host_name:=$(fact name)}"
  if [ "$host_name" = none ]; then host_name=; fi
  : "${acme:=$(fact acme)}"
  : "${acme_email:=$(fact acme_email)}"
  if [ -n "$host_name" ] && is_loopback "$bind"; then
    refuse 2 "--name: nobody reaches $host_name while nginx listens on $bind. Add --bind=0.0.0.0 or an address of this machine."
  fi
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

# @checks.sh@

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

# @release.sh@

# @database.sh@

# @model.sh@

# @site.sh@

# @certificate.sh@

# @upgrade.sh@

# @uninstall.sh@

# --- Summary --------------------------------------------------------------------------------------

# Says who reaches the hub at the address it listens on, and how to change that.
say_reach() {
  if is_loopback "$bind" || [ "$public" = unsubscribe ]; then
    at=$bind
    if [ "$public" = unsubscribe ]; then at=127.0.0.1; fi
    say '                Only this machine reaches it. From another one, run'
    say "                ssh -L 8080:$at:80 $(hostname) and open http://localhost:8080/hub/"
  fi
  if is_loopback "$bind"; then
    say '                To open it to your network, run this again with --bind=0.0.0.0.'
    return
  fi
  if [ "$public" = unsubscribe ]; then
    say "                Beyond it, $bind answers the unsubscribe links in mails and nothing else."
  else
    say "                Every machine that reaches $bind (--bind) can open it."
    say '                To publish only the unsubscribe links, run this again with --public=unsubscribe.'
  fi
  case ${certificate:-} in
    valid) say "                Its certificate is renewed by certbot (certbot certificates)." ;;
    missing)
      say "                There is no certificate for $host_name yet: $LOG shows why. It must point to this"
      say '                machine, and port 80 must be reachable. Then run this again. Until then,'
      say '                browsers warn of a self-signed certificate.'
      ;;
    *) say "                Browsers warn of a self-signed certificate; put your own in $ETC/tls." ;;
  esac
}

summary() {
  if is_loopback "$bind"; then url="http://$bind/hub/"; else url="https://$(hostname)/hub/"; fi
  if [ "$bind" != 0.0.0.0 ] && ! is_loopback "$bind"; then url="https://$bind/hub/"; fi
  # An IPv6 address stands in brackets; `::` is all addresses and nobody's.
  case $bind in
    ::) url="https://$(hostname)/hub/" ;;
    ::1) url='http://[::1]/hub/' ;;
    *:*) url="https://[$bind]/hub/" ;;
  esac
  if [ -n "$host_name" ]; then url="https://$host_name/hub/"; fi
  if [ "$public" = unsubscribe ]; then url='http://127.0.0.1/hub/'; fi
  # The set-up code is a secret: it is shown, but not written to the log.
  log_ready=
  say ''
  say "Watchpost Hub $target is installed."
  say "  Open          $url"
  say_reach
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
