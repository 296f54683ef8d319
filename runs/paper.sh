#!/usr/bin/env bash
# All tables and figures of the paper on your own testbeds, and every prior system beside ours, in one command.
#
#   runs/paper.sh OUT TESTBED... [options]
#
# Takes up where it was stopped. `runs/paper.sh --help` lists the options.
set -euo pipefail
exec "${PYTHON:-python}" "$(dirname "$0")/paper.py" "$@"
