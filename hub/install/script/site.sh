write_site() {
  if ! command -v nginx > /dev/null; then
    step 'Installing nginx'
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq nginx-light >> "$LOG" 2>&1 ||
      refuse 10 'nginx could not be installed. Install it (apt-get install nginx-light) and run this again.'
    keep_fact nginx ours
  fi
  if is_loopback "$bind"; then names=localhost; else
    make_certificate
    names="$host_name $(hostname) $(hostname -I)"
    install -d -m 755 "$ANSWERS"
  fi
  limits=yes
  if nginx -V 2>&1 | grep -q -e --without-http_limit_req_module; then
    limits=no
    say '  This nginx cannot limit requests: apt-get install nginx-core, then run this again.'
  fi
  SITE_FILE=$SITE SITE_BIND=$bind SITE_PUBLIC=$public SITE_NAMES=$names SITE_TLS_DIR=$ETC/tls \
    SITE_SECRET=$ETC/proxy.secret SITE_PROXY=$OPT/nginx-proxy.conf SITE_LIMITS=$limits \
    SITE_ANSWERS=$ANSWERS \
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
  alternatives=$(for address in $(hostname -I); do printf 'IP:%s,' "$address"; done)DNS:$(hostname)
  if [ -n "$host_name" ]; then alternatives=$alternatives,DNS:$host_name; fi
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
