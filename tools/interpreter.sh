#!/usr/bin/env bash
# Prints a Python of the asked version (3.12, say) that really starts: the one on PATH, else
# one that pyenv keeps (its shims are on PATH but refuse to start what is not selected).
set -u
for candidate in "python$1" "$(pyenv root 2>/dev/null)"/versions/"$1".*/bin/python; do
    if "$candidate" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
        command -v "$candidate"
        exit 0
    fi
done
exit 1
