#!/usr/bin/env bash
# Pins what the members and the dependency groups need, for every supported interpreter.
# The uv to use is the first argument. No header and no index address gets into the file.
set -euo pipefail
cd "$(dirname "$0")/.."
uv=${1:-uv}

members=(rewind_core/pyproject.toml adapters/*/pyproject.toml)
skip=()
for member in "${members[@]}"; do
    skip+=(--no-emit-package "$(sed -n 's/^name = "\(.*\)"$/\1/p' "$member")")
done
"$uv" pip compile --quiet --universal --python-version 3.10 --no-header --no-annotate \
    --no-emit-index-url --no-emit-find-links --all-extras \
    --group pyproject.toml:test --group pyproject.toml:frameworks --group pyproject.toml:check \
    "${skip[@]}" "${members[@]}" --output-file constraints.txt "${@:2}"
