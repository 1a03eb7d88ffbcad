#!/bin/bash
# node-kubelet.sh [DIR]: starts the real kubelet as the node of an instance, to compare with, and waits until the node is Ready.
# env: NODE_VIA (a kubeconfig instead of the node's own), SECCOMP_DEFAULT (false),
# NODEFS_AVAILABLE (0%) and PRESSURE_TRANSITION (5m), of eviction
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"
instance "${1:-}"
alive "$D/node.pid" && { log "there is a node already: stop-node.sh"; exit 1; }
cat >"$D/kubelet.yaml" <<Y
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://$CRI_SOCK
staticPodPath: $STATIC_PODS
podLogsDir: $POD_LOGS
volumePluginDir: $AGENT_ROOT/plugins-exec
cgroupDriver: cgroupfs
cgroupRoot: $CGROUP_ROOT
failSwapOn: false
failCgroupV1: false
oomScoreAdj: 0
address: $NODE_IP
port: 10250
healthzBindAddress: 127.0.0.1
healthzPort: $(free_port)
tlsCertFile: $SERVING_CERT
tlsPrivateKeyFile: $SERVING_KEY
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $CLIENT_CA}}
authorization: {mode: Webhook}
clusterDNS: [$CLUSTER_DNS]
clusterDomain: cluster.local
serializeImagePulls: false
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 100Mi, nodefs.available: ${NODEFS_AVAILABLE:-0%}}
evictionPressureTransitionPeriod: ${PRESSURE_TRANSITION:-5m}
makeIPTablesUtilChains: false
seccompDefault: ${SECCOMP_DEFAULT:-false}
Y
setsid "$BIN/kubelet" --config="$D/kubelet.yaml" --kubeconfig="${NODE_VIA:-$NODE_KUBECONFIG}" --root-dir="$AGENT_ROOT" --cert-dir="$AGENT_ROOT/pki" \
	--hostname-override="$NODE_NAME" --node-ip="$NODE_IP" --v="${V:-2}" >>"$D/node.log" 2>&1 </dev/null &
record "$D/node.pid" $!
exec "$HERE/wait-node.sh" "$D"
