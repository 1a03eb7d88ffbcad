#!/bin/bash
# run.sh FOCUS [SKIP]: runs e2e.test against the last instance (or $CONFORMANCE_DIR); prints counts per group and the lists
# SKIP's default keeps [Serial] tests: of [NodeConformance] some are (they run last, one at a time, on one of the PROCS processes)
# env: PROCS (4), DRY=1 (list only), TIMEOUT (60m), OUT (directory for report.json, log, passed/failed/skipped/times.txt), E2E_EXTRA, GINKGO_EXTRA
set -uo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"; instance
F=${1:?usage: run.sh FOCUS [SKIP]}; SK=${2-'\[Slow\]|\[Flaky\]|\[Disruptive\]'}
OUT=${OUT:-$D/results/$(date +%H%M%S)}; mkdir -p "$OUT"; DR=; P=${PROCS:-4}; [ -n "${DRY:-}" ] && { DR=--dry-run; P=1; }
nice -n 10 "$BIN/ginkgo" run --procs="$P" --no-color $DR --timeout="${TIMEOUT:-60m}" --focus="$F" --skip="$SK" --output-dir="$OUT" --json-report=report.json ${GINKGO_EXTRA:-} "$BIN/e2e.test" -- \
  --kubeconfig="$KUBECONFIG" --provider=skeleton --num-nodes=1 --minStartupPods=0 --allowed-not-ready-nodes=0 --kubectl-path="$BIN/kubectl" \
  --dump-logs-on-failure=false --disable-log-dump=true --kubelet-root-dir="$AGENT_ROOT" ${E2E_EXTRA:-} >"$OUT/log" 2>&1
rc=$?; "$BIN/conformance-report" "$OUT" "$HERE"; echo "rc=$rc, files in $OUT"; exit $rc
