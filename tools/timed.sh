#!/bin/sh
# Runs make targets one after the other, until one fails, and prints how long each took:
#
#   tools/timed.sh lint build test
#
# A target that runs others in this way is printed with them; build/times.txt keeps the table of the last run.
set -eu
cd "$(dirname "$0")/.."

if [ -z "${WARDLET_TIMES:-}" ]; then
	mkdir -p build
	WARDLET_TIMES=$PWD/build/times.txt
	export WARDLET_TIMES
	: >"$WARDLET_TIMES"
	trap 'echo "wall time by target:"; cat "$WARDLET_TIMES"' EXIT
fi

for target; do
	began=$(date +%s)
	status=0
	"${MAKE:-make}" --no-print-directory "$target" || status=$?
	result=ok
	[ "$status" -eq 0 ] || result="failed with status $status"
	printf '  %-14s %5d s  %s\n' "$target" "$(($(date +%s) - began))" "$result" >>"$WARDLET_TIMES"
	[ "$status" -eq 0 ] || exit "$status"
done
