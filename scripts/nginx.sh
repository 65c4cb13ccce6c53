#!/bin/sh
# Installs the nginx that the tests of the hub's installer ask, where that is possible; it is not
# left running. Where it is not possible, those tests fail with a sentence that says what is missing.
set -eu

main() {
  if command -v nginx > /dev/null; then return; fi
  if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
    echo "nginx is not installed. The tests of the hub's installer need it: install nginx-light." >&2
    return
  fi
  echo "Installing nginx for the tests of the hub's installer (a few seconds, once) …"
  # A service that starts by itself would take port 80.
  policy=/usr/sbin/policy-rc.d
  ours=
  if [ ! -e "$policy" ]; then
    ours=1
    printf '#!/bin/sh\nexit 101\n' > "$policy"
    chmod 755 "$policy"
  fi
  {
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nginx-light
  } > /dev/null 2>&1 || echo "nginx could not be installed. Run apt-get install nginx-light to see why." >&2
  if [ -n "$ours" ]; then rm -f "$policy"; fi
}

main "$@"
