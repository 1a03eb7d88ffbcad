#!/bin/bash
# conformance.sh [FOCUS]: runs Kubernetes' own end-to-end tests against wardlet on a control plane and a containerd of their own,
# by default [NodeConformance] but [Slow], and prints how many pass by group, and how long they took. Ends all that it started.
# env: ONLY=passing runs what passing.txt lists, ONLY=slow what slow.txt lists, ONLY=further what further.txt lists, each that
#      fails once more, and fails where one fails twice;
#      KEEP=1 leaves the instance up; PROCS (6) how many tests at a time; OUT where logs and lists go (build/conformance/results)
set -uo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"
[ "$(id -u)" -eq 0 ] || { log "run this as root, or with sudo -E"; exit 1; }
export OUT=${OUT:-$CACHE/results} PROCS=${PROCS:-6}
FOCUS=${1:-\\[NodeConformance\\]}
rm -rf "$OUT"
mkdir -p "$OUT"
D=$(mktemp -d /tmp/conformance.XXXXXX)
end() {
	cp "$D/node.log" "$OUT/node.log" 2>/dev/null
	[ -n "${KEEP:-}" ] && { log "the instance stays up in $D; test/conformance/down.sh ends it"; return; }
	"$HERE/down.sh" "$D" >/dev/null 2>&1
}
trap end EXIT
trap 'exit 130' INT TERM
began=$(date +%s)
"$HERE/up.sh" "$D" >"$OUT/env" 2>"$OUT/up.log" || { tail "$OUT/up.log" >&2; exit 1; }
CONFORMANCE_DIR=$D "$HERE/node.sh" "$D" || exit 1
export CONFORMANCE_DIR=$D
if [ -z "${ONLY:-}" ]; then
	"$HERE/run.sh" "$FOCUS"
else
	"$HERE/run-list.sh" "$ONLY"
fi
status=$?
log "$(($(date +%s) - began)) s; logs and lists are in $OUT"
exit $status
