# --- Checks of this machine -----------------------------------------------------------------------

check_root() {
  [ "$(id -u)" -eq 0 ] || refuse 4 'the installer needs root. Run it with sudo.'
}

take_lock() {
  exec 9> "$LOCK"
  flock -n 9 || refuse 9 'another run of the installer is active. Wait for it to finish.'
  locked=1
}

check_system() {
  architecture=$(uname -m)
  case $architecture in
    x86_64) ;;
    aarch64 | arm64) refuse 3 'there is no bundle for arm64 yet. Use an x86-64 machine.' ;;
    *) refuse 3 "$architecture is not supported. Use an x86-64 machine." ;;
  esac
  [ -r /etc/os-release ] || refuse 3 'this system has no /etc/os-release. Use Debian 12+ or Ubuntu 22.04+.'
  os=$(os_release ID)
  release=$(os_release VERSION_ID)
  case $os in
    debian) oldest=12.0 ;;
    ubuntu) oldest=22.04 ;;
    *) refuse 3 "$os is not supported. Use Debian 12 or newer, or Ubuntu 22.04 or newer." ;;
  esac
  at_least "$release" "$oldest" ||
    refuse 3 "$os $release is too old. Use Debian 12 or newer, or Ubuntu 22.04 or newer."
  libc=$(getconf GNU_LIBC_VERSION 2> /dev/null | cut -d' ' -f2)
  at_least "${libc:-0}" 2.34 || refuse 3 "the C library is too old (${libc:-none}): glibc 2.34 or later is required."
  [ -d /run/systemd/system ] || refuse 3 'systemd is not running, and the hub needs it.'
  command -v nginx > /dev/null || can_fetch_nginx ||
    refuse 3 'nginx is missing. Install it (apt-get install nginx-light) and run this again.'
}

os_release() {
  sed -n "s/^$1=//p" /etc/os-release | tr -d '"'
}

can_fetch_nginx() {
  [ -z "$offline" ] && command -v apt-get > /dev/null
}

# at_least A B: succeeds if version A is at least version B (x.y, compared as numbers).
at_least() {
  awk -v a="$1" -v b="$2" 'BEGIN {
    split(a, x, "."); split(b, y, ".")
    exit !(x[1] + 0 > y[1] + 0 || (x[1] + 0 == y[1] + 0 && x[2] + 0 >= y[2] + 0))
  }'
}

check_memory() {
  memory_kb=$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)
  # A machine with 4 GB reports less than 4 GiB.
  [ "$memory_kb" -ge 3670016 ] ||
    refuse 5 "this machine has $((memory_kb / 1024)) MiB of memory; at least 3.5 GiB are required (a machine with 4 GB)."
}

choose_model() {
  if [ -n "$model" ]; then
    model_why='as requested'
    return
  fi
  if [ -r "$ETC/models.json" ]; then
    model=kept
    model_why='as already configured'
    return
  fi
  gib=$((memory_kb / 1048576))
  if [ "$memory_kb" -ge 7340032 ]; then
    model=7b
    model_why="this machine has $gib GiB of memory; the 7B model needs about 6 GiB"
  elif [ "$memory_kb" -ge 6291456 ]; then
    model=4b
    model_why="this machine has $gib GiB of memory; the 7B model would need a machine with 7 GiB"
  else
    model=1.7b
    model_why="this machine has $gib GiB of memory; the 4B model would need a machine with 6 GiB"
  fi
}

# The disk space that the chosen model needs, in MiB.
model_mib() {
  case $model in
    7b) echo 4800 ;;
    4b) echo 2600 ;;
    1.7b) echo 1900 ;;
    /*) echo $(($(wc -c < "$model") / 1048576 + 1)) ;;
    *) echo 0 ;;
  esac
}

check_disk() {
  place=$data_dir
  while [ ! -d "$place" ]; do place=$(dirname "$place"); done
  # shellcheck disable=SC2046
  set -- $(df -Pk "$place" | awk 'NR == 2 { print $2, $4 }')
  total_mib=$(($1 / 1024))
  free_mib=$(($2 / 1024))
  [ "$total_mib" -ge 18432 ] ||
    refuse 6 "the disk of $data_dir has $((total_mib / 1024)) GiB; at least 18 GiB are required (a disk of 20 GB). Choose another folder with --data-dir."
  # An installed hub already has its space.
  if installed; then return; fi
  needed_mib=$((8192 + $(model_mib)))
  [ "$free_mib" -ge "$needed_mib" ] ||
    refuse 6 "the disk of $data_dir has $free_mib MiB free; $needed_mib MiB are required. Free some space, choose another folder with --data-dir, or start with --model=none."
}

check_ports() {
  if ! systemctl -q is-active watchpost-hub.service; then require_free 8770 'the hub'; fi
  if ! systemctl -q is-active watchpost-postgres.service; then require_free 8771 'its database'; fi
  if ! systemctl -q is-active nginx.service; then
    require_free 80 nginx
    if ! is_loopback "$bind"; then require_free 443 nginx; fi
  fi
}

# Whoever can write to a folder above the data could replace it with another while root works in it.
check_place() {
  parent=$data_dir
  while [ "$parent" != / ]; do
    parent=$(dirname "$parent")
    if [ ! -e "$parent" ]; then continue; fi
    case $(stat -L -c '%u:%g:%A' "$parent") in
      0:*:????????w* | 0:[1-9]*:?????w*) ;;
      0:*) continue ;;
    esac
    refuse 2 "--data-dir: users other than root can write to $parent. Choose a folder below folders that only root can write to."
  done
}

require_free() {
  hex=$(printf ':%04X' "$1")
  if cat /proc/net/tcp /proc/net/tcp6 2> /dev/null |
    awk -v port="$hex" '$4 == "0A" && substr($2, length($2) - 4) == port { found = 1 } END { exit !found }'; then
    refuse 7 "port $1, which $2 needs, is in use. Stop the program that listens on it (ss -ltnp shows which) and run this again."
  fi
}

is_loopback() {
  case $1 in
    127.* | ::1) return 0 ;;
    *) return 1 ;;
  esac
}

installed() {
  [ -L "$OPT/current" ] && [ -x "$OPT/current/bin/node" ]
}
