# --- A certificate from a certificate authority (ACME, RFC 8555) ----------------------------------

# Where the authority looks for the answers of certbot (http-01).
ANSWERS=$OPT/acme
RENEWED=$OPT/certificate-renewed
LINEAGE=watchpost-hub

# Gets a certificate for --name with certbot, whose timer renews it. The self-signed one stays in use
# if that fails: a name may not point here yet, and the hub is of use without it.
get_certificate() {
  certificate=
  if [ -z "$host_name" ] || [ "$acme" = none ]; then
    forget_certificate
    return
  fi
  if [ -n "$no_start" ] || [ -n "$offline" ]; then
    certificate=missing
    return
  fi
  if ! command -v certbot > /dev/null; then
    step 'Installing certbot'
    if ! DEBIAN_FRONTEND=noninteractive apt-get install -y -qq certbot >> "$LOG" 2>&1; then
      say '  certbot could not be installed. Install it (apt-get install certbot), and run this again.'
      certificate=missing
      return
    fi
    keep_fact certbot ours
  fi
  step "Getting a certificate for $host_name"
  printf '%s\n' '#!/bin/sh' '# Run by certbot with each new certificate of the hub.' 'set -eu' 'umask 077' \
    "cp \"\$RENEWED_LINEAGE/privkey.pem\" $ETC/tls/hub.key.new" \
    "cp \"\$RENEWED_LINEAGE/fullchain.pem\" $ETC/tls/hub.crt.new" \
    "mv $ETC/tls/hub.key.new $ETC/tls/hub.key" \
    "mv $ETC/tls/hub.crt.new $ETC/tls/hub.crt" \
    'systemctl reload nginx.service' > "$RENEWED.new"
  chmod 700 "$RENEWED.new"
  mv "$RENEWED.new" "$RENEWED"
  set -- --webroot-path "$ANSWERS" --domain "$host_name"
  if [ -n "$acme_email" ]; then set -- "$@" --email "$acme_email"; else
    set -- "$@" --register-unsafely-without-email
  fi
  if [ -n "$acme" ]; then set -- "$@" --server "$acme"; fi
  if certbot certonly --webroot "$@" --cert-name "$LINEAGE" --deploy-hook "$RENEWED" \
    --non-interactive --agree-tos --keep-until-expiring >> "$LOG" 2>&1; then
    # Kept from an earlier run, whose hook may have failed.
    RENEWED_LINEAGE=/etc/letsencrypt/live/$LINEAGE "$RENEWED" >> "$LOG" 2>&1 && certificate=valid
  fi
  if [ -z "$certificate" ]; then certificate=missing; fi
}

# The renewal would fail once nginx no longer publishes the answers.
forget_certificate() {
  if [ -e "/etc/letsencrypt/renewal/$LINEAGE.conf" ]; then
    certbot delete --cert-name "$LINEAGE" --non-interactive > /dev/null 2>&1 || :
  fi
  rm -f "$RENEWED"
}
