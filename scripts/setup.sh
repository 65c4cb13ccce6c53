#!/bin/sh
# Installs what this clone needs, when package-lock.json changed since the last time.
#   sh scripts/setup.sh run    what running needs
#   sh scripts/setup.sh test   everything (also right for running)
set -eu

main() {
  need=${1:-run}
  marker=node_modules/.watchpost-setup
  installed=none
  if [ -f "$marker" ] && cmp -s package-lock.json "$marker.lock"; then
    installed=$(cat "$marker")
  fi
  case "$installed:$need" in
    test:*|run:run) ;;
    *) install "$need" ;;
  esac
}

install() {
  echo "Installing what '$1' needs (once, about 15 seconds) …"
  rm -f "$marker"
  if [ "$1" = run ]; then
    npm ci --omit=dev --no-audit --no-fund --loglevel=error
  else
    npm ci --no-audit --no-fund --loglevel=error
  fi
  cp package-lock.json "$marker.lock"
  echo "$1" > "$marker"
}

main "$@"
