set_model() {
  case $model in
    /*)
      step 'Copying the model'
      file=$data_dir/models/$(basename "$model")
      if [ "$model" != "$file" ]; then
        write_as service "$file" < "$model" ||
          refuse 10 "the model could not be copied to $file. Check what is in its place, and run this again."
      fi
      write_model "{ \"kind\": \"local\", \"file\": \"$file\" }"
      ;;
    *) ;;
  esac
  keep_fact model "$model"
}

write_model() {
  printf '%s\n' "$1" | write_as service "$ETC/models.json"
}

start_hub() {
  systemctl restart watchpost-model.service watchpost-hub.service || return 1
  is_healthy
}

# Has the hub download the preset; without a network, Settings > Models can start it later.
fetch_model() {
  case $model in
    7b) preset=qwen2.5-7b ;;
    4b) preset=qwen3-4b ;;
    1.7b) preset=qwen3-1.7b ;;
    *) return 0 ;;
  esac
  if [ -n "$offline" ] || [ -r "$ETC/models.json" ]; then
    model_why="$model_why; download it in Settings > Models, or install its file with --model=PATH"
    return 0
  fi
  if HUB_TOKEN=$(as_service cat "$ETC/hub.token") "$OPT/current/bin/node" -e '
    fetch("http://127.0.0.1:8770/api/cockpit/model/download", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer " + process.env.HUB_TOKEN },
      body: JSON.stringify({ preset: process.argv[1] }),
    }).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))' \
    "$preset"; then
    model_why="$model_why; it is being downloaded, Settings > Models shows the progress"
  else
    model_why="$model_why; the download did not start, start it in Settings > Models"
  fi
}

# Waits up to 60 seconds, which a busy machine may need. A hub that fails as it starts answers for a
# moment each time that systemd starts it again, so it must answer three times in a row.
is_healthy() {
  tries=0
  in_row=0
  while [ "$tries" -lt 120 ]; do
    if "$OPT/current/bin/node" -e '
      fetch("http://127.0.0.1:8770/api/cockpit/health", { signal: AbortSignal.timeout(2000) })
        .then(async (r) => process.exit(r.ok && (await r.json()).version === process.argv[1] ? 0 : 1))
        .catch(() => process.exit(1))' "$target"; then
      in_row=$((in_row + 1))
      if [ "$in_row" -ge 3 ]; then return 0; fi
      sleep 0.5
    else
      in_row=0
    fi
    tries=$((tries + 1))
    sleep 0.5
  done
  return 1
}
