#!/bin/sh
# Installs what this clone needs, when a package-lock.json changed since the last time.
#   sh scripts/setup.sh run    what running the service needs
#   sh scripts/setup.sh hub    what running the hub needs
#   sh scripts/setup.sh test   everything (also right for running)
set -eu

main() {
  cd "$(dirname "$0")/.."
  case ${1:-run} in
    run) service run ;;
    hub) service run && hub ;;
    test) service test && hub && sh scripts/chromium.sh && sh scripts/nginx.sh ;;
    *) echo "setup.sh: run, hub or test, not $1" >&2 && exit 2 ;;
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
  echo "Installing what '$need' needs (about 15 seconds the first time) …"
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

# The hub's package by itself: without the optional packages of the model's runtime, which hold
# its builds for graphics cards (670 MB). None of its packages needs its install script.
hub() {
  marker=hub/node_modules/.watchpost-setup.lock
  if cmp -s hub/package-lock.json "$marker" 2> /dev/null; then return; fi
  echo "Installing what the hub needs (about 10 seconds the first time) …"
  (cd hub && npm ci --omit=dev --omit=optional --omit=peer --ignore-scripts --no-audit --no-fund --loglevel=error)
  cp hub/package-lock.json "$marker"
}

main "$@"
