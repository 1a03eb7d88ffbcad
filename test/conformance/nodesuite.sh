#!/bin/bash
# nodesuite.sh standalone|registered [FOCUS]: runs tests of Kubernetes' node suite against wardlet, on a containerd of their own: those for
# a kubelet without an API server, or those of a node of a cluster. Without FOCUS it runs those of standalone.txt, each
# that fails once more, and fails where one fails twice. Tests that restart the kubelet with another configuration restart the agent with
# an agent.toml that means the same (kubeletconfig). Ends all that it started.
# env: KEEP=1 leaves the instance up; OUT where logs and lists go (build/conformance/standalone or registered)
set -uo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"
[ "$(id -u)" -eq 0 ] || { log "run this as root, or with sudo -E"; exit 1; }
SUITE=${1:-}
case $SUITE in
standalone) node=$HERE/node-standalone.sh mode=--standalone-mode ;;
registered) node=$HERE/node.sh mode= ;;
*) log "which tests? standalone or registered"; exit 2 ;;
esac
shift
for cgroup in /sys/fs/cgroup/kubepods /sys/fs/cgroup/*/kubepods; do
	[ ! -e "$cgroup" ] || { log "$cgroup exists: a node agent runs here; the tests need that place"; exit 1; }
done
OUT=${OUT:-$CACHE/$SUITE}
rm -rf "$OUT"
mkdir -p "$OUT"
D=$(mktemp -d /tmp/nodesuite.XXXXXX)
export CONFORMANCE_DIR=$D NODE_SUITE=1
# As where Kubernetes runs these tests, nothing taints the node: a tainted node counts as missing in them.
export KCM_EXTRA=--controllers=*,-node-lifecycle-controller APISERVER_EXTRA=--disable-admission-plugins=TaintNodesByCondition
end() {
	cp "$D/node.log" "$OUT/node.log" 2>/dev/null
	[ -n "${KEEP:-}" ] && { log "the instance stays up in $D; test/conformance/down.sh ends it"; return; }
	"$HERE/down.sh" "$D" >/dev/null 2>&1
	for try in 1 2 3 4 5; do # the last processes end a moment later
		find /sys/fs/cgroup/kubepods /sys/fs/cgroup/*/kubepods -depth -type d -exec rmdir {} + 2>/dev/null
		[ -n "$(echo /sys/fs/cgroup/*/kubepods | grep '[*]')" ] && break
		sleep 1
	done
	# One test leaves its pod, whose logs no agent removes now; node-standalone.sh wants the directory empty before it starts.
	[ -n "${started:-}" ] && [ "$SUITE" = standalone ] && rm -rf /var/log/pods/*
}
trap end EXIT
trap 'exit 130' INT TERM
"$HERE/up.sh" "$D" >"$OUT/env" 2>"$OUT/up.log" || { tail "$OUT/up.log" >&2; exit 1; }
instance "$D"
# Some tests pull all images that any test of the suite wants, also those that the mirror lacks: names of the sandbox's image, which no
# test here starts. It is pinned, so that the agent never removes it.
for image in $("$BIN/e2e_node.test" --list-images) gcr.io/cadvisor/cadvisor:v0.47.2 docker.io/nfvpe/sriov-device-plugin:v3.1 \
	registry.k8s.io/e2e-test-images/sample-device-plugin:1.7 registry.k8s.io/node-problem-detector/node-problem-detector:v1.34.0 \
	registry.k8s.io/e2e-test-images/busybox@sha256:a9155b13325b2abef48e71de77bb8ac015412a566829f621d06bfae5c699b1b9; do
	[ -e "$CACHE/img/$(basename "$image" | tr : -).tar" ] && continue
	$CTR images tag "$(cat "$CACHE/img/pause.ref")" "$image" && $CTR images label "$image" io.cri-containerd.pinned=pinned
done >>"$OUT/up.log" 2>&1
# Tests signal a shutdown on the system bus. The agent heeds only systemd-logind's own signals, so the bus has a stand-in for it.
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$D/bus
setsid "$BIN/conformance-logind" "$D/bus" >"$D/logind.log" 2>&1 </dev/null &
record "$D/logind.pid" $!
# Tests restart the kubelet with "sudo systemctl": these stand in for both. A test's kubelet-config is in its own directory.
mkdir "$D/sudo"
cat >"$D/sudo/sudo" <<'S'
#!/bin/sh
# Tests free the memory of all pods' cgroup, which a kubelet always has; the agent has it while there are pods.
case $* in *kubepods/memory.force_empty*) [ -e /sys/fs/cgroup/memory/kubepods ] || exit 0 ;; esac
exec "$@"
S
cat >"$D/sudo/systemctl" <<S
#!/bin/bash
. "$HERE/lib.sh"
case \$1 in
list-units) echo "kubelet-conformance.service loaded active running node agent" ;;
reset-failed) ;;
kill | stop) stop "$D/node.pid" 10 ;;
start | restart)
	stop "$D/node.pid" 10
	KUBELET_CONFIG=\$PWD/kubelet-config "$node" "$D"
	;;
*)
	echo "systemctl: \$*" >&2
	exit 1
	;;
esac
S
chmod +x "$D/sudo/sudo" "$D/sudo/systemctl"
"$node" "$D" || exit 1
started=1

# try OUT FOCUS: one run, whose lists are in OUT.
try() {
	mkdir -p "$1"
	rm -f "$STATIC_PODS"/*static-pod*.yaml # one test leaves its manifest behind
	(cd "$1" && PATH=$D/sudo:$PATH nice -n 10 "$BIN/ginkgo" run --no-color --timeout="${TIMEOUT:-120m}" --focus="$2" \
		--output-dir="$1" --json-report=report.json "$BIN/e2e_node.test" -- \
		$mode --start-services=false --stop-services=false --prepull-images=false --host="$APISERVER" --bearer-token="$ADMIN_TOKEN" \
		--node-name="$NODE_NAME" --container-runtime-endpoint="unix://$CRI_SOCK" --dns-domain=cluster.local >log 2>&1)
	"$BIN/conformance-report" "$1"
}

if [ $# -gt 0 ]; then
	try "$OUT" "$1"
	log "logs and lists are in $OUT"
	exit 0
fi
wanted=$OUT/wanted.txt
grep -v '^#' "$HERE/$SUITE.txt" | grep . | sort >"$wanted"
for turn in 1 2; do
	try "$OUT/$turn" "$(names "$wanted")"
	comm -23 "$wanted" <(sort "$OUT/$turn/passed.txt") >"$OUT/broken.txt"
	[ -s "$OUT/broken.txt" ] || { log "all of $SUITE.txt pass, at try $turn"; exit 0; }
	cp "$OUT/broken.txt" "$wanted"
done
log "these passed before and fail now, twice:"
cat "$OUT/broken.txt" >&2
exit 1
