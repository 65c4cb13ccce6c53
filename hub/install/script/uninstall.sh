# --- Uninstall ------------------------------------------------------------------------------------

uninstall_hub() {
  if [ ! -e "$OPT" ] && [ ! -e "$UNITS/watchpost-hub.service" ] && [ ! -e "$ETC" ]; then
    say 'There is no hub on this machine.'
    return
  fi
  if [ -n "$purge" ] && [ -z "$yes" ]; then confirm_purge; fi
  nginx_was=$(fact nginx)
  certbot_was=$(fact certbot)
  for unit in watchpost-hub watchpost-model watchpost-postgres; do
    if [ -e "$UNITS/$unit.service" ]; then
      systemctl -q disable --now "$unit.service" || :
      rm -f "$UNITS/$unit.service"
    fi
  done
  if [ -e "$UNITS/watchpost-reader.socket" ]; then
    systemctl stop watchpost-reader.socket 'watchpost-reader@*.service' || :
    for unit in $READER_UNITS; do rm -f "$UNITS/$unit"; done
  fi
  systemctl daemon-reload
  rm -f "$CRON" "$COMMAND"
  if [ -e "$SITE" ]; then
    rm -f "$SITE"
    if systemctl -q is-active nginx.service; then systemctl reload nginx.service; fi
  fi
  forget_certificate
  forget_killed
  rm -rf "${OPT:?}/releases" "$ANSWERS" "$OPT/current" "$OPT/nginx-proxy.conf" "$WORK"
  if [ -z "$purge" ]; then
    say "The hub was removed. Its data is kept in $data_dir, $ETC and $PROMPTS; a new installation uses it again."
    return
  fi
  rm -rf "$OPT" "$ETC" "$PROMPTS" "$data_dir" "$LOG"
  log_ready=
  rmdir /opt/ceo-runner 2> /dev/null || :
  for user in watchpost watchpost-db; do
    if id "$user" > /dev/null 2>&1; then userdel "$user"; fi
  done
  if [ "$nginx_was" = ours ]; then
    say 'nginx, which the installer added, was kept: apt-get purge nginx-light removes it.'
  fi
  if [ "$certbot_was" = ours ]; then
    say 'certbot, which the installer added, was kept: apt-get purge certbot removes it.'
  fi
  say 'The hub and all its data were removed.'
}

confirm_purge() {
  [ -t 0 ] || refuse 2 '--purge deletes all data. Confirm with --yes.'
  printf 'This deletes every project, mail and backup in %s. Type purge to continue: ' "$data_dir"
  read -r word
  [ "$word" = purge ] || refuse 2 'nothing was deleted.'
}
