# What the scripts of this directory share. They are run by make conformance; see run.sh.
# An instance (a control plane, a containerd, a node) lives in a directory of its own, whose file env says what is where.
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
BIN=$ROOT/build/tools
CACHE=$ROOT/build/conformance

log() { echo "conformance: $*" >&2; }

# started PID: the process's start time, by which it is told from a later one with the same ID.
started() { awk '{sub(/.*\) /,"");print $20}' "/proc/$1/stat" 2>/dev/null; }

# record FILE PID: so that stop never meets another process.
record() { echo "$2 $(started "$2")" >"$1"; }

alive() {
	local pid start
	[ -s "$1" ] && read -r pid start <"$1" && [ -n "$start" ] && [ "$(started "$pid")" = "$start" ]
}

# stop FILE [SECONDS]: ends the recorded process; by force when the time is over.
stop() {
	local pid i
	alive "$1" || { rm -f "$1"; return 0; }
	read -r pid _ <"$1"
	kill -TERM "$pid" 2>/dev/null
	for i in $(seq $((${2:-5} * 10))); do alive "$1" || break; sleep 0.1; done
	alive "$1" && kill -KILL "$pid"
	rm -f "$1"
}

free_port() {
	local port
	while :; do
		port=$((20000 + RANDOM % 12000))
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
	done
}

# instance [DIR]: reads what is where; by default of the one that was started last.
instance() {
	D=${1:-${CONFORMANCE_DIR:-$(cat "$CACHE/last" 2>/dev/null)}}
	[ -f "$D/env" ] || { log "no instance in '$D': up.sh first"; exit 2; }
	. "$D/env"
}

# names FILE: the names of tests in a file as one regular expression, with what is special in them escaped. Ginkgo looks for it in the
# middle of longer names.
names() { sed -e 's/[][\\.*^$(){}?+|/]/\\&/g' "$1" | paste -sd'|'; }
