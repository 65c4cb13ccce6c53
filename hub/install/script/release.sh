fetch_bundle() {
  if [ -n "$bundle" ]; then
    [ -r "$bundle" ] || refuse 2 "--bundle: $bundle cannot be read."
    return
  fi
  [ -z "$offline" ] || refuse 2 '--offline needs --bundle=FILE.'
  [ -n "$INSTALL_URL_BUILT" ] || refuse 2 'this installer has no download address. Use --bundle=FILE.'
  step 'Downloading'
  mkdir -p "$WORK"
  bundle=$WORK/watchpost-hub-$version-linux-x64.tar.gz
  curl -fL --retry 3 --proto '=https' --progress-bar -C - -o "$bundle" \
    "$INSTALL_URL_BUILT/watchpost-hub-$version-linux-x64.tar.gz" ||
    refuse 8 "version $version could not be downloaded from $INSTALL_URL_BUILT. Try again, or use --bundle=FILE."
}

# A damaged download is removed: the next run would only resume it.
refuse_bundle() {
  case $bundle in
    "$WORK"/*) rm -f "$bundle" ;;
  esac
  refuse 8 "$1"
}

# Nothing from the bundle runs before its checksum is verified.
verify_bundle() {
  step 'Verifying'
  rm -rf "$WORK/bundle"
  mkdir -p "$WORK/bundle"
  tar -xzf "$bundle" -C "$WORK/bundle" --no-same-owner \
    node verify.ts install.sh manifest.json manifest.json.sig payload.tar.gz 2> /dev/null || refuse_bundle "$bundle is incomplete or damaged. Download it again."
  printf '%s  %s\n%s  %s\n' "$NODE_SHA256" "$WORK/bundle/node" "$VERIFY_SHA256" "$WORK/bundle/verify.ts" |
    sha256sum --check --status ||
    refuse_bundle "$bundle was altered, or belongs to another version of this installer. Run the install.sh of the same version, downloaded again if need be: sudo sh install.sh --bundle=FILE"
  chmod 700 "$WORK/bundle/node"
  target=$("$WORK/bundle/node" "$WORK/bundle/verify.ts" "$WORK/bundle/manifest.json" \
    "$WORK/bundle/manifest.json.sig" "$WORK/bundle" 2> "$WORK/verify.err") ||
    refuse_bundle "the bundle could not be verified: $(cat "$WORK/verify.err"). Download it again."
}

make_users() {
  for user in watchpost watchpost-db; do
    if ! id "$user" > /dev/null 2>&1; then
      useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "$user"
    fi
  done
}

# In its own folders the hub's user can replace anything with a symbolic link at any moment, so root
# works there as that user. The sticky bit protects what belongs to root or the database user.
as_service() {
  (cd / && exec setpriv --reuid=watchpost --regid=watchpost --clear-groups "$@")
}

as_database() {
  (cd / && exec setpriv --reuid=watchpost-db --regid=watchpost-db --clear-groups "$@")
}

# write_as USER FILE: writes standard input to a file, atomically.
write_as() {
  # shellcheck disable=SC2016
  "as_$1" sh -c 'umask 077 && cat > "$1.new" && mv -T "$1.new" "$1"' sh "$2"
}

# is_of USER FOLDER: succeeds if it is a folder (not a link to one) that belongs to the user.
is_of() {
  [ ! -L "$2" ] && [ -d "$2" ] && [ "$(stat -c %U "$2")" = "$1" ]
}

# require_of USER FOLDER: refuses unless nothing is there, or a folder that belongs to the user.
require_of() {
  if [ ! -e "$2" ] && [ ! -L "$2" ]; then return; fi
  is_of "$1" "$2" || refuse 10 "$2 is not a folder that belongs to $1. Check what it is, move it away, and run this again."
}

make_folders() {
  install -d -m 755 "$OPT" "$OPT/releases" /opt/ceo-runner
  install -d -m 750 -o watchpost -g watchpost "$PROMPTS"
  install -d -m 1770 -o root -g watchpost "$ETC"
  # The database's user must be able to reach its folder.
  install -d -m 1771 -o root -g watchpost "$data_dir"
  mine=$data_dir/.install
  mkdir -m 711 "$mine" 2> /dev/null || :
  require_of root "$mine"
  require_of watchpost-db "$data_dir/postgres"
  require_of root "$ETC/tls"
  as_service mkdir -p -m 750 "$data_dir/projects" "$data_dir/models" "$data_dir/backups" ||
    refuse 10 "the folders in $data_dir could not be created. Check what is in their place, and run this again."
}

unpack() {
  release_dir=$OPT/releases/$target
  if [ -e "$release_dir" ]; then return; fi
  step "Unpacking version $target"
  rm -rf "$OPT/releases/.new"
  mkdir "$OPT/releases/.new"
  (umask 022 && tar -xzf "$WORK/bundle/payload.tar.gz" -C "$OPT/releases/.new" --no-same-owner)
  install -D -m 755 "$WORK/bundle/node" "$OPT/releases/.new/bin/node"
  # `watchpost-hub upgrade` and `uninstall` run the installer of the current release.
  install -m 755 "$WORK/bundle/install.sh" "$OPT/releases/.new/install.sh"
  chmod 755 "$OPT/releases/.new"
  mv "$OPT/releases/.new" "$release_dir"
}

switch_to() {
  ln -sfn "$1" "$OPT/current.new"
  mv -T "$OPT/current.new" "$OPT/current"
}
