#!/bin/sh
# Runs every fuzz target of the repository for the given time each, in the
# module it belongs to.
set -eu
cd "$(dirname "$0")/.."
time=${1:-20s}
grep -rl --include='*_test.go' '^func Fuzz' core cmd plugins tools test 2>/dev/null | sort | while read -r file; do
	grep -o '^func Fuzz[A-Za-z0-9_]*' "$file" | sed 's/^func //' | while read -r target; do
		echo "fuzz: $target ($(dirname "$file")) for $time"
		(cd "$(dirname "$file")" && go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" .)
	done
done
