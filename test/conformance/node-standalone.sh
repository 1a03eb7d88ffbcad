#!/bin/bash
# node-standalone.sh [DIR]: starts wardlet (build/wardlet, or $WARDLET) on the containerd of an instance, without its API server, and
# waits until the agent is healthy. It serves what Kubernetes' node tests look for: http://127.0.0.1:10255/pods,
# http://127.0.0.1:10248/healthz, and through login, for the tests have no certificate, https://127.0.0.1:10250/configz.
# env: CONFIG_EXTRA (what comes at the end of agent.toml)
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"
instance "${1:-}"
alive "$D/node.pid" && { log "there is a node already: stop-node.sh"; exit 1; }
WARDLET=${WARDLET:-$ROOT/build/wardlet}
A=$D/standalone
mkdir -p "$A"
# The tests read logs below /var/log/pods, where an agent removes what it does not know.
[ -e "$A/agent.toml" ] || [ -z "$(ls -A /var/log/pods 2>/dev/null)" ] || { log "/var/log/pods is another agent's: run this on another machine"; exit 1; }
cat >"$A/agent.toml" <<T
node_name = "$NODE_NAME"
log_level = "${LOG_LEVEL:-info}"

[[source]]
name = "static"
kind = "file"
path = "$STATIC_PODS"
missing_path = "empty"

[node_api]
read_only_listen = "127.0.0.1:10255"
healthz_listen = "127.0.0.1:10248"
listen = "$NODE_IP:10250"
cert_file = "$SERVING_CERT"
key_file = "$SERVING_KEY"
client_ca_file = "$CLIENT_CA"

[paths]
state_root = "$A/state"
pod_root = "$AGENT_ROOT"
log_root = "/var/log"
socket = "$A/wardlet.sock"
cgroup_root = "$CGROUP_ROOT/standalone"

[eviction.hard] # whatever else is on the disk of this machine
"nodefs.available" = "0%"
"nodefs.inodesFree" = "0%"
"imagefs.available" = "0%"
"imagefs.inodesFree" = "0%"

[runtime]
endpoint = "unix://$CRI_SOCK"
image_gc_high_threshold_percent = 100 # the images of later tests are unused now
${CONFIG_EXTRA:-}
T
setsid "$WARDLET" run --config "$A/agent.toml" >>"$D/node.log" 2>&1 </dev/null &
record "$D/node.pid" $!
if ! alive "$D/login.pid"; then
	setsid "$BIN/conformance-login" 127.0.0.1:10250 "$NODE_IP:10250" "$SERVING_CERT" "$SERVING_KEY" \
		"$D/k8s/kubelet-client.crt" "$D/k8s/kubelet-client.key" "$CLIENT_CA" >"$D/login.log" 2>&1 </dev/null &
	record "$D/login.pid" $!
fi
for i in $(seq 120); do
	[ "$(curl -s http://127.0.0.1:10248/healthz)" = ok ] && curl -sf http://127.0.0.1:10255/pods >/dev/null &&
		curl -sfk https://127.0.0.1:10250/configz >/dev/null && { log "the agent is healthy"; exit 0; }
	alive "$D/node.pid" && alive "$D/login.pid" || break
	sleep 0.5
done
log "the agent is not healthy"
tail -n 15 "$D/node.log" "$D/login.log" >&2
exit 1
