#!/bin/bash
# conformance.sh [FOCUS]: runs Kubernetes' own end-to-end tests against wardlet on a control plane and a containerd of their own,
# by default [NodeConformance] but [Slow], and prints how many pass by group, and how long they took. Ends all that it started.
# env: ONLY=passing runs what passing.txt lists, ONLY=slow what slow.txt lists, each that fails once more, and fails where one
#      fails twice;
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
list=$HERE/${ONLY:-}.txt
if [ -z "${ONLY:-}" ]; then
	"$HERE/run.sh" "$FOCUS"
	status=$?
	log "$(($(date +%s) - began)) s; logs and lists are in $OUT"
	exit $status
fi
# Names of tests as one regular expression: what is special in them, escaped. Ginkgo looks for it in the middle of longer names.
names() { sed -e 's/[][\\.*^$(){}?+|/]/\\&/g' "$1" | paste -sd'|'; }
grep -v '^#' "$list" | grep . >"$OUT/wanted.txt"
"$HERE/run.sh" "$(names "$OUT/wanted.txt")" 'nothing at all'
sort "$OUT/passed.txt" >"$OUT/first.txt"
sort "$OUT/wanted.txt" | comm -13 "$OUT/first.txt" - | grep . >"$OUT/again.txt" || { log "all of $ONLY.txt pass: $(($(date +%s) - began)) s"; exit 0; }
log "once more: $(wc -l <"$OUT/again.txt") tests that did not pass"
cp "$OUT/again.txt" /tmp/again.$$
OUT=$OUT/second "$HERE/run.sh" "$(names /tmp/again.$$)" 'nothing at all'
rm -f /tmp/again.$$
sort "$OUT/second/passed.txt" | comm -13 - <(sort "$OUT/again.txt") | grep . >"$OUT/broken.txt" || { log "all of $ONLY.txt pass, some at the second try: $(($(date +%s) - began)) s"; exit 0; }
log "these passed before and fail now, twice:"
cat "$OUT/broken.txt" >&2
exit 1
