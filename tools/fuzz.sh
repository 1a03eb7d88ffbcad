#!/bin/sh
# Runs every fuzz target of the repository for the given time each (default
# 20s), in the module it belongs to. Each package is compiled once, so that
# `tools/fuzz.sh 300x` (so many inputs, instead of a time) takes minutes. A time as
# short as that may end as "context deadline exceeded", a fault of Go's fuzzer.
# What fails is written to the package's testdata/fuzz, to be committed with
# the fix. What else is of interest stays in Go's cache, and a run begins with
# it; one of less than ten seconds would get no further than that, so it begins
# with the committed seeds alone and keeps nothing. A second time bounds what a
# target may take, as in `tools/fuzz.sh 2000x 20s`.
set -eu
cd "$(dirname "$0")/.."
time=${1:-20s}
most=${2:-0} # no limit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $time in
[0-9]s | *ms | *x) cache=$work/cache ;;
*) cache=$(go env GOCACHE)/fuzz ;;
esac

grep -rl --include='*_test.go' '^func Fuzz' core cmd plugins tools test | xargs -n 1 dirname | sort -u >"$work/packages"
while read -r package; do
	(
		cd "$package"
		path=$(go list .)
		go test -c -vet=off -fuzz . -o "$work/fuzz.test" .
		"$work/fuzz.test" -test.list '^Fuzz' >"$work/targets"
		while read -r target; do
			echo "fuzz: $target ($package) for $time"
			# Interrupted, a target that has found nothing passes.
			timeout --signal=INT --preserve-status "$most" "$work/fuzz.test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$time" -test.fuzzminimizetime 10x -test.fuzzcachedir "$cache/$path"
		done <"$work/targets"
	)
done <"$work/packages"
