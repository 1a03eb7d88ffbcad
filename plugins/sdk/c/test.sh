#!/bin/sh
# Runs the tests of plugins written in C: builds, in each FOLDER, every *_test.c together with all other *.c for this machine,
# with what finds wrong memory accesses, and runs it. WARDLET_CC names the compiler (cc by default: gcc and clang will do).
#
#   test.sh FOLDER...
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ $# -gt 0 ] || { echo "usage: test.sh FOLDER..." >&2; exit 2; }
failed=0
for folder; do
	found=
	for test in "$folder"/*_test.c; do
		[ -e "$test" ] || continue
		found=yes
		set --
		for source in "$folder"/*.c; do
			case $source in
			*_test.c) ;;
			*) [ ! -e "$source" ] || set -- "$@" "$source" ;;
			esac
		done
		echo "test: $test"
		if ! ${WARDLET_CC:-cc} "@$here/native.flags" -I"$here" -o "$work/test" "$test" "$@" || ! "$work/test"; then
			echo "FAIL: $test" >&2
			failed=1
		fi
	done
	[ -n "$found" ] || { echo "test.sh: $folder holds no *_test.c" >&2; failed=1; }
done
exit $failed
