#!/bin/sh
# Installs the browser that the tests of the hub's interface run in, where that is possible.
# Where it is not, those tests fail with a sentence that says what is missing.
set -eu

main() {
  for browser in "${CHROMIUM:-}" /usr/bin/chromium; do
    if [ -n "$browser" ] && [ -x "$browser" ]; then return; fi
  done
  if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
    echo "Chromium is not installed. The browser tests need it: install it, or set CHROMIUM to its path." >&2
    return
  fi
  echo "Installing Chromium for the browser tests (about a minute, once) …"
  {
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium
  } > /dev/null 2>&1 || echo "Chromium could not be installed. Run apt-get install chromium to see why." >&2
}

main "$@"
