#!/bin/sh
# Installs the browsers that the tests run in, where that is possible: Chromium, and its headless
# shell, which shows the pages of the hub for a quarter less CPU. Where that is not possible, tests
# that need a browser fail with a sentence that says what is missing.
set -eu

CHROMIUM_BIN=/usr/bin/chromium
SHELL_BIN=/usr/bin/chromium-headless-shell
# Not every distribution has the headless shell, so it is asked for once in a clone.
TRIED=node_modules/.watchpost-headless-shell

main() {
  cd "$(dirname "$0")/.."
  if [ -n "${CHROMIUM:-}" ] && [ -x "$CHROMIUM" ]; then return; fi
  if [ -x "$CHROMIUM_BIN" ] && { [ -x "$SHELL_BIN" ] || [ -e "$TRIED" ]; }; then return; fi
  if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
    if [ -x "$CHROMIUM_BIN" ]; then return; fi
    echo "Chromium is not installed. The browser tests need it: install it, or set CHROMIUM to its path." >&2
    return
  fi
  echo "Installing Chromium for the browser tests (about a minute, once) …"
  apt-get update -qq > /dev/null 2>&1 || true
  if [ ! -x "$CHROMIUM_BIN" ]; then
    install chromium || echo "Chromium could not be installed. Run apt-get install chromium to see why." >&2
  fi
  touch "$TRIED"
  install chromium-headless-shell ||
    echo "chromium-headless-shell could not be installed, so the browser tests run in Chromium itself." >&2
}

install() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" > /dev/null 2>&1
}

main "$@"
