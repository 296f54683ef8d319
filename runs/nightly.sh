#!/usr/bin/env bash
# All full doses, one after the other; takes a night on two cores. CI runs a hundredth of them (tests/dose.py). A step
# that fails is named, and the others are still run. Needs the extra `test`, and uv for the last two steps.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${PYTHON:-.venv/bin/python}
export FADER_DOSE=1 FADER_EXAMPLES=1000
failed=()

step() {
  printf '\n#### %s\n' "$1"
  "${@:2}" || failed+=("$1")
}

step "damaged and hostile files, by compiled kernels" "$python" -m pytest -q tests/index tests/hostile
step "durability" "$python" -m pytest -q tests/durability
step "requests to the service" "$python" -m pytest -q tests/serve
step "the cluster" "$python" -m pytest -q tests/cluster
step "oracles" "$python" -m pytest -q tests/contexts tests/fused tests/systems
step "drawn requests on few mentions" env PYTHONPATH=tests "$python" -m serve.fuzz 0 100000
step "drawn requests on many mentions" env PYTHONPATH=tests "$python" -m serve.fuzz 100000 5000 5000
step "one hour with an attacker and a victim" "$python" -m benchmarks.fairness --minutes 60
step "the oldest allowed versions" runs/versions.sh oldest
step "the newest allowed versions" runs/versions.sh newest
if [ ${#failed[@]} -gt 0 ]; then
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
fi
