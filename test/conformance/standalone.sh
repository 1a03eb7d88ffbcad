#!/bin/bash
# standalone.sh [FOCUS]: runs the tests of Kubernetes' node suite for a kubelet without an API server against wardlet, on a containerd of
# their own, and prints which pass. Their framework makes namespaces in an API server all the same, which the agent does not
# know. Ends all that it started. A test of standalone.txt that fails is run once more, and fails the run if it fails again.
# env: KEEP=1 leaves the instance up; SKIP what not to run; OUT where logs and lists go (build/conformance/standalone)
set -uo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"
[ "$(id -u)" -eq 0 ] || { log "run this as root, or with sudo -E"; exit 1; }
OUT=${OUT:-$CACHE/standalone}
FOCUS=${1:-\\[Feature:StandaloneMode\\]}
rm -rf "$OUT"
mkdir -p "$OUT"
D=$(mktemp -d /tmp/standalone.XXXXXX)
export CONFORMANCE_DIR=$D
end() {
	cp "$D/node.log" "$OUT/node.log" 2>/dev/null
	[ -n "${KEEP:-}" ] && { log "the instance stays up in $D; test/conformance/down.sh ends it"; return; }
	"$HERE/down.sh" "$D" >/dev/null 2>&1
}
trap end EXIT
trap 'exit 130' INT TERM
"$HERE/up.sh" "$D" >"$OUT/env" 2>"$OUT/up.log" || { tail "$OUT/up.log" >&2; exit 1; }
instance "$D"
# [Serial] tests restart the kubelet with "sudo systemctl": these stand in for both.
mkdir "$D/sudo"
printf '#!/bin/sh\nexec "$@"\n' >"$D/sudo/sudo"
cat >"$D/sudo/systemctl" <<S
#!/bin/bash
. "$HERE/lib.sh"
case \$1 in
list-units) echo "kubelet-conformance.service loaded active running node agent" ;;
reset-failed) ;;
kill | stop) stop "$D/node.pid" 10 ;;
start | restart)
	stop "$D/node.pid" 10
	"$HERE/node-standalone.sh" "$D"
	;;
*)
	echo "systemctl: \$*" >&2
	exit 1
	;;
esac
S
chmod +x "$D/sudo/sudo" "$D/sudo/systemctl"
"$HERE/node-standalone.sh" "$D" || exit 1

# try OUT FOCUS: one run, whose lists are in OUT.
try() {
	mkdir -p "$1"
	rm -f "$STATIC_PODS"/*static-pod*.yaml # one test leaves its manifest behind
	(cd "$1" && PATH=$D/sudo:$PATH nice -n 10 "$BIN/ginkgo" run --no-color --timeout="${TIMEOUT:-30m}" --focus="$2" \
		--skip="${SKIP-\[Slow\]|\[Flaky\]|\[Disruptive\]}" --output-dir="$1" --json-report=report.json "$BIN/e2e_node.test" -- \
		--standalone-mode --start-services=false --stop-services=false --prepull-images=false --host="$APISERVER" --bearer-token="$ADMIN_TOKEN" \
		--node-name="$NODE_NAME" --container-runtime-endpoint="unix://$CRI_SOCK" --dns-domain=cluster.local >log 2>&1)
	"$BIN/conformance-report" "$1"
}
# Names of tests as one regular expression: what is special in them, escaped.
names() { sed -e 's/[][\\.*^$(){}?+|/]/\\&/g' "$1" | paste -sd'|'; }
missing() { comm -13 <(sort "$1/passed.txt") <(grep -v '^#' "$HERE/standalone.txt" | sort); }

began=$(date +%s)
try "$OUT" "$FOCUS"
log "$(($(date +%s) - began)) s; logs and lists are in $OUT"
[ $# -eq 0 ] || exit 0
missing "$OUT" >"$OUT/again.txt"
[ -s "$OUT/again.txt" ] || { log "all of standalone.txt pass"; exit 0; }
log "once more: $(wc -l <"$OUT/again.txt") tests that did not pass"
try "$OUT/second" "$(names "$OUT/again.txt")"
comm -12 "$OUT/again.txt" <(missing "$OUT/second") >"$OUT/broken.txt"
[ -s "$OUT/broken.txt" ] || { log "all of standalone.txt pass, some at the second try"; exit 0; }
log "these passed before and fail now, twice:"
cat "$OUT/broken.txt" >&2
exit 1
