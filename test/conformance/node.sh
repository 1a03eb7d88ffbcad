#!/bin/bash
# node.sh [DIR]: starts wardlet (build/wardlet, or $WARDLET) as the node of an instance, and waits until the node is Ready.
# env: NODE_VIA (a kubeconfig instead of the node's own), CONFIG_EXTRA (what comes at the end of agent.toml), NODE_SUITE=1 (the agent
# serves what Kubernetes' node tests look for), KUBELET_CONFIG (a file with a kubelet's configuration, which the agent takes over),
# NODEFS_AVAILABLE (0%) and PRESSURE_TRANSITION (5m), of eviction
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"
instance "${1:-}"
alive "$D/node.pid" && { log "there is a node already: stop-node.sh"; exit 1; }
WARDLET=${WARDLET:-$ROOT/build/wardlet}
A=$D/wardlet
mkdir -p "$A"
CGROUPS=$CGROUP_ROOT/wardlet
SERVE="listen = \"$NODE_IP:10250\""
[ -z "${NODE_SUITE:-}" ] || {
	SERVE=$(printf 'listen = "0.0.0.0:10250"\nread_only_listen = "127.0.0.1:10255"\nhealthz_listen = "127.0.0.1:10248"')
	CGROUPS=/kubepods # where a kubelet has them, and the tests look
}
cat >"$A/agent.toml" <<T
node_name = "$NODE_NAME"
log_level = "${LOG_LEVEL:-info}"

[[source]]
name = "static"
kind = "file"
path = "$STATIC_PODS"

[cluster]
kubeconfig = "${NODE_VIA:-$NODE_KUBECONFIG}"
node_ip = "$NODE_IP"
dns = ["$CLUSTER_DNS"]

[node_api]
$SERVE
cert_file = "$SERVING_CERT"
key_file = "$SERVING_KEY"
client_ca_file = "$CLIENT_CA"

[paths]
state_root = "$A/state"
pod_root = "$AGENT_ROOT"
log_root = "$(dirname "$POD_LOGS")/logs"
socket = "$A/wardlet.sock"
cgroup_root = "$CGROUPS"

T
if [ -s "${KUBELET_CONFIG:-}" ]; then
	"$BIN/conformance-kubeletconfig" "$KUBELET_CONFIG" "unix://$CRI_SOCK" >>"$A/agent.toml"
else
	cat >>"$A/agent.toml" <<T
[eviction]
pressure_transition_period = "${PRESSURE_TRANSITION:-5m}"

[eviction.hard] # whatever else is on the disk of this machine
"nodefs.available" = "${NODEFS_AVAILABLE:-0%}"
"nodefs.inodesFree" = "0%"
"imagefs.available" = "0%"
"imagefs.inodesFree" = "0%"

[runtime]
endpoint = "unix://$CRI_SOCK"
image_gc_high_threshold_percent = 100 # the images of later tests are unused now
${CONFIG_EXTRA:-}
T
fi
setsid "$WARDLET" run --config "$A/agent.toml" >>"$D/node.log" 2>&1 </dev/null &
record "$D/node.pid" $!
exec "$HERE/wait-node.sh" "$D"
