#!/bin/sh
# Installs what this clone needs, when package-lock.json changed since the last time.
#   sh scripts/setup.sh run    what running needs
#   sh scripts/setup.sh test   everything (also right for running)
set -eu

main() {
  need=${1:-run}
  marker=node_modules/.watchpost-setup
  installed=none
  if [ -f "$marker" ]; then installed=$(cat "$marker"); fi
  # Who once needed everything keeps everything.
  if [ "$installed" = test ]; then need=test; fi
  if [ "$installed" = "$need" ] && cmp -s package-lock.json "$marker.lock"; then return; fi
  install "$need"
}

install() {
  echo "Installing what '$1' needs (about 15 seconds the first time) …"
  set -- "$1" --no-audit --no-fund --loglevel=error
  if [ "$1" = run ]; then set -- "$@" --omit=dev; fi
  level=$1
  shift
  if [ -f "$marker" ]; then
    # Adds what is missing and leaves the rest in place: a service may be running from it.
    npm install --no-save "$@"
  else
    npm ci "$@"
  fi
  cp package-lock.json "$marker.lock"
  echo "$level" > "$marker"
}

main "$@"
