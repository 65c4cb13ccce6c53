#!/bin/sh
# Installs what this clone needs, when a package-lock.json changed since the last time. It reports on
# standard error: standard output belongs to the command that follows.
#   sh scripts/setup.sh run      what running the service needs
#   sh scripts/setup.sh tracing  what sending traces needs, with OpenTelemetry (20 MB)
#   sh scripts/setup.sh hub      what running the hub and building its interface needs
#   sh scripts/setup.sh test     everything (also right for running)
set -eu
exec >&2

main() {
  cd "$(dirname "$0")/.."
  case ${1:-run} in
    run) service run && interface && traces ;;
    tracing) tracing ;;
    hub) service run && interface && hub ;;
    test) service test && tracing && interface && hub && sh scripts/chromium.sh && sh scripts/nginx.sh ;;
    *) echo "setup.sh: the argument must be run, tracing, hub or test, not $1" && exit 2 ;;
  esac
}

service() {
  need=$1
  marker=node_modules/.watchpost-setup
  installed=none
  if [ -f "$marker" ]; then installed=$(cat "$marker"); fi
  # Who once needed everything keeps everything.
  if [ "$installed" = test ]; then need='test'; fi
  if [ "$installed" = "$need" ] && cmp -s package-lock.json "$marker.lock"; then return; fi
  echo "Installing the packages for '$need' (about 15 seconds the first time) …"
  set -- --no-audit --no-fund --loglevel=error
  if [ "$need" = run ]; then set -- "$@" --omit=dev; fi
  if [ -f "$marker" ]; then
    # Adds what is missing and leaves the rest in place: a service may be running from it.
    npm install --no-save "$@"
  else
    npm ci "$@"
  fi
  cp package-lock.json "$marker.lock"
  echo "$need" > "$marker"
}

# Where traces are switched on, what sends them.
traces() {
  if [ -n "${OTEL_EXPORTER_OTLP_ENDPOINT:-}${OTEL_EXPORTER_OTLP_TRACES_ENDPOINT:-}" ]; then tracing; fi
}

tracing() {
  clean_install functions/tracing/otlp 'tracing'
}

# What the console and the hub's pages are built with, a package by itself: a server on an edge
# platform does without it. The hub's pages find it through a link.
interface() {
  clean_install web 'the interface'
  ln -sfn ../../web/node_modules hub/web/node_modules
}

# The hub's package by itself: without the optional packages of the model's runtime, which hold
# its builds for graphics cards (670 MB).
hub() {
  clean_install hub 'the hub' --omit=dev --omit=optional --omit=peer
}

# Installs the package in folder $1, called $2. None of its packages needs its install script.
clean_install() {
  folder=$1
  name=$2
  shift 2
  marker=$folder/node_modules/.watchpost-setup.lock
  if cmp -s "$folder/package-lock.json" "$marker" 2> /dev/null; then return; fi
  echo "Installing the packages of $name (about 10 seconds the first time) …"
  (cd "$folder" && npm ci "$@" --ignore-scripts --no-audit --no-fund --loglevel=error)
  cp "$folder/package-lock.json" "$marker"
}

main "$@"
