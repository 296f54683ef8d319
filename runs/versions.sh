#!/usr/bin/env bash
# Tries the package with the oldest or the newest versions that pyproject.toml allows: installs it without extras into a
# fresh environment, builds and asks the demo, and checks its index. Needs uv.
#
#     runs/versions.sh oldest
#     runs/versions.sh newest
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case "${1:-}" in
  oldest) resolution=lowest-direct ;;
  newest) resolution=highest ;;
  *) echo "usage: runs/versions.sh oldest|newest" >&2; exit 2 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
uv venv -q --python "${PYTHON:-python3}" "$work/venv"
uv pip install -q --python "$work/venv/bin/python" --resolution "$resolution" .
uv pip freeze --python "$work/venv/bin/python" | grep -v ' @ '
export XDG_CACHE_HOME="$work/cache"
"$work/venv/bin/fader" demo "$work/demo"
"$work/venv/bin/fader" check "$work/demo/index"
echo "the $1 allowed versions work"
