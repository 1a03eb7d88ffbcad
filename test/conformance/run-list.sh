#!/bin/bash
# run-list.sh NAME: runs the tests of NAME.txt against the last instance (or $CONFORMANCE_DIR), each that fails once more, and fails where
# one fails twice. env: as run.sh
set -uo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"
NAME=${1:?usage: run-list.sh NAME}
export OUT=${OUT:-$CACHE/results}
mkdir -p "$OUT"
grep -v '^#' "$HERE/$NAME.txt" | grep . >"$OUT/wanted.txt"
"$HERE/run.sh" "$(names "$OUT/wanted.txt")" 'nothing at all'
sort "$OUT/passed.txt" >"$OUT/first.txt"
sort "$OUT/wanted.txt" | comm -13 "$OUT/first.txt" - | grep . >"$OUT/again.txt" || { log "all of $NAME.txt pass"; exit 0; }
log "once more: $(wc -l <"$OUT/again.txt") tests that did not pass"
again=$(names "$OUT/again.txt")
OUT=$OUT/second "$HERE/run.sh" "$again" 'nothing at all'
sort "$OUT/second/passed.txt" | comm -13 - <(sort "$OUT/again.txt") | grep . >"$OUT/broken.txt" || { log "all of $NAME.txt pass, some at the second try"; exit 0; }
log "these passed before and fail now, twice:"
cat "$OUT/broken.txt" >&2
exit 1
