#!/usr/bin/env bash
# The tables "Proximity features compared" and "Effect of T, (+) and soft cutoffs" of the paper, on your own testbeds.
#
#   runs/learning.sh OUT TESTBED...
#
# A testbed is a folder with corpus.jsonl (or .gz, .zst), entities.tsv, types.tsv, queries.jsonl and qrels.txt. OUT gets
# an index and a report for each; an index that is there is used again. Values that are linear in the scores (sum,
# average) are tested by leave-one-out, the others by five folds. Environment:
#   SAMPLE    only so many judged queries of a testbed, drawn by seed 0 (default: all)
#   LAM       lambdas tried for sum and average (default: auto)
#   LAM5      lambdas tried for the others (default: auto)
set -euo pipefail
out=$1
shift
lam=${LAM:-auto} lam5=${LAM5:-auto}
kernels='kernel(shape=gaussian,width=5)|kernel(shape=gaussian,width=20)|kernel(shape=gaussian,width=80)'
systems="count,fader(features=$kernels,lam=1,label=kernel)"
for features in noprox noprox+idfupto noprox+grid noprox+rectangle noprox+coverage; do
  systems+=",fader(features=$features,lam=$lam)"
done
systems+=",fader(aggregator=average,lam=$lam)"
for aggregator in softcount softcutoff softmax softor 'softor(bias=true)' logsumexp; do
  systems+=",fader(aggregator=$aggregator,lam=$lam5,cv=5)"
done
systems+=",fader(features=noprox+coverage,aggregator=logsumexp,lam=$lam5,cv=5)"
systems+=",fader(features=noprox+rectangle|noprox+coverage,aggregator=sum|logsumexp,lam=$lam5,cv=5,label=chosen)"
for testbed in "$@"; do
  name=$(basename "$testbed")
  mkdir -p "$out"
  if [ ! -d "$out/$name" ]; then
    fader index "$testbed"/corpus.jsonl* --entities "$testbed/entities.tsv" --types "$testbed/types.tsv" -o "$out/$name"
  fi
  fader compare "$out/$name" --queries "$testbed/queries.jsonl" --qrels "$testbed/qrels.txt" --systems "$systems" \
    --cv loo --sample "${SAMPLE:-0}" --title "$name" --overwrite -o "$out/$name-report"
done
