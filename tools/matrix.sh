#!/usr/bin/env bash
# Runs the core's tests under every supported interpreter found here, each in its own venv.
set -u
cd "$(dirname "$0")/.."
failed=()
for version in 3.10 3.11 3.12 3.13; do
    if ! python=$(bash tools/interpreter.sh "$version"); then
        echo "Python $version: not installed here, left out"
        continue
    fi
    echo "Python $version"
    venv=.venv-$version
    make --no-print-directory install VENV="$venv" PYTHON="$python" MEMBERS=rewind_core GROUPS=test &&
        "$venv/bin/python" -m pytest --quiet rewind_core/tests || failed+=("$version")
done
[ ${#failed[@]} -eq 0 ] || { echo "failed under: ${failed[*]}"; exit 1; }
