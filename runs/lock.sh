#!/usr/bin/env bash
# Writes requirements.lock anew: every package of development and CI at one version, with the hashes of its files.
# Users install by the open ranges of pyproject.toml; `pip install --require-hashes -r requirements.lock` installs
# exactly what was tried. Needs uv. No address of a package index stands in the file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
uv pip compile pyproject.toml --extra test --extra plots --universal --python-version 3.11 --upgrade \
  --generate-hashes --no-emit-index-url --no-header --no-annotate -q -o requirements.lock
