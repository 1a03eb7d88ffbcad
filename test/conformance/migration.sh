#!/bin/bash
# migration.sh: a kubelet is replaced by wardlet on a node with 20 pods, and wardlet by that kubelet. Both have the command line and the files
# of the kubelet. Every container must run on, with the same ID. The certificates come from the cluster: the kubelet requests those that
# wardlet continues with, and wardlet those that the kubelet continues with. Ends all that it started.
# env: KEEP=1 leaves the instance up; OUT where logs go (build/conformance/migration); CALM (60): seconds that each agent has for a mistake
set -uo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"
[ "$(id -u)" -eq 0 ] || { log "run this as root, or with sudo -E"; exit 1; }
OUT=${OUT:-$CACHE/migration} CALM=${CALM:-60}
rm -rf "$OUT"
mkdir -p "$OUT"
D=$(mktemp -d /tmp/migration.XXXXXX)
export CONFORMANCE_DIR=$D
approver=
end() {
	[ -z "$approver" ] || kill "$approver"
	cp "$D"/node.log "$OUT/" 2>/dev/null
	[ -n "${KEEP:-}" ] && { log "the instance stays up in $D; test/conformance/down.sh ends it"; return; }
	"$HERE/down.sh" "$D" >/dev/null 2>&1
}
trap end EXIT
trap 'exit 130' INT TERM
"$HERE/up.sh" "$D" >"$OUT/env" 2>"$OUT/up.log" || { tail "$OUT/up.log" >&2; exit 1; }
instance "$D"
K="$BIN/kubectl --kubeconfig=$KUBECONFIG"
IMAGE=$(cat "$CACHE/img/pause.ref")
cat >"$D/kubelet.yaml" <<Y
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://$CRI_SOCK
staticPodPath: $STATIC_PODS
podLogsDir: $D/logs/pods
cgroupDriver: cgroupfs
cgroupRoot: $CGROUP_ROOT
failSwapOn: false
failCgroupV1: false
oomScoreAdj: 0
address: $NODE_IP
rotateCertificates: true
serverTLSBootstrap: true
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $CLIENT_CA}}
authorization: {mode: Webhook}
clusterDNS: [$CLUSTER_DNS]
clusterDomain: cluster.local
serializeImagePulls: false
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 100Mi}
makeIPTablesUtilChains: false
Y
# The one who asks with this kubeconfig has the right to create certificates of nodes.
FLAGS=(--config="$D/kubelet.yaml" --bootstrap-kubeconfig="$KUBECONFIG" --kubeconfig="$D/kubelet.kubeconfig" --root-dir="$AGENT_ROOT" --cert-dir="$AGENT_ROOT/pki" --hostname-override="$NODE_NAME" --node-ip="$NODE_IP" --v=2)
mkdir "$D/bin"
ln -s "${WARDLET:-$ROOT/build/wardlet}" "$D/bin/kubelet" # with this name it takes the flags of a kubelet
# start PROGRAM PATTERN: starts a node agent, and waits until the node has its version and is ready.
start() {
	setsid "$1" "${FLAGS[@]}" >>"$D/node.log" 2>&1 </dev/null &
	record "$D/node.pid" $!
	for _ in $(seq 600); do
		[[ $($K get node "$NODE_NAME" -o jsonpath='{.status.nodeInfo.kubeletVersion} {.status.conditions[?(@.type=="Ready")].status}' 2>/dev/null) == $2\ True ]] && return
		alive "$D/node.pid" || break
		sleep 0.1
	done
	log "$1 is not ready:"
	tail -n 20 "$D/node.log" >&2
	return 1
}
# containers prints the pods with the IDs and restarts of their containers, as the API server has them, and the IDs that run in the runtime.
containers() {
	$K get pods -A -o jsonpath='{range .items[*]}{.metadata.namespace}/{.metadata.name} {.status.phase} {.status.containerStatuses[*].containerID} {.status.containerStatuses[*].restartCount}{"\n"}{end}' | sort
	$CTR task ls | awk '$3=="RUNNING"{print $1}' | sort
}
# certificates prints the names and the serial numbers of the certificates that the agents use.
certificates() {
	for name in client server; do
		echo "$name:"
		openssl x509 -noout -serial -subject -in "$AGENT_ROOT/pki/kubelet-$name-current.pem" || return
	done
}
# An administrator approves the certificates for serving; those for the API server are approved by the cluster.
while sleep 0.5; do
	$K get csr --no-headers 2>/dev/null | awk '/kubelet-serving/ && $NF=="Pending"{print $1}' | xargs -r $K certificate approve
done >"$OUT/approved" 2>&1 &
approver=$!
start "$BIN/kubelet" 'v*' || exit 1
for n in 1 2 3; do
	cat >"$STATIC_PODS/static$n.yaml" <<Y
apiVersion: v1
kind: Pod
metadata: {name: static$n}
spec: {containers: [{name: main, image: $IMAGE, resources: {requests: {cpu: 10m}, limits: {memory: 64Mi}}}]}
Y
done
$K apply -f - <<Y >/dev/null || exit 1
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {one: "1"}
---
apiVersion: v1
kind: Secret
metadata: {name: secret}
stringData: {two: "2"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 14
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      initContainers: [{name: first, image: $IMAGE, command: [/pause, -v]}]
      containers:
      - name: main
        image: $IMAGE
        env: [{name: ONE, valueFrom: {configMapKeyRef: {name: settings, key: one}}}, {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}]
        resources: {requests: {cpu: 10m, memory: 8Mi}, limits: {memory: 64Mi}}
        securityContext: {runAsUser: 1000, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
        volumeMounts: [{name: settings, mountPath: /settings}, {name: secret, mountPath: /secret}, {name: scratch, mountPath: /scratch}]
      - {name: side, image: $IMAGE, ports: [{containerPort: 80}]}
      volumes: [{name: settings, configMap: {name: settings}}, {name: secret, secret: {secretName: secret}}, {name: scratch, emptyDir: {medium: Memory, sizeLimit: 1Mi}}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: each}
spec:
  selector: {matchLabels: {app: each}}
  template:
    metadata: {labels: {app: each}}
    spec: {hostNetwork: true, containers: [{name: main, image: $IMAGE}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: ordered}
spec:
  replicas: 2
  serviceName: ordered
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: ordered}}
  template:
    metadata: {labels: {app: ordered}}
    spec: {containers: [{name: main, image: $IMAGE}]}
Y
for _ in $(seq 1200); do
	[ "$($K get pods --no-headers 2>/dev/null | grep -c ' Running ')" -ge 20 ] && break
	sleep 0.1
done
sleep 5
containers >"$OUT/before"
certificates >"$OUT/certificates" || exit 1
log "$(grep -c Running "$OUT/before") pods run with the kubelet"
[ "$(grep -c Running "$OUT/before")" -ge 20 ] || { cat "$OUT/before"; exit 1; }
failed=0
# check NAME: compares the containers with those before.
check() {
	sleep "$CALM"
	containers >"$OUT/$1"
	if diff "$OUT/before" "$OUT/$1" >"$OUT/$1.diff"; then
		log "$1: all containers run on, with the same IDs"
	else
		log "$1: containers have changed:"
		cat "$OUT/$1.diff" >&2
		failed=1
	fi
	certificates >"$OUT/$1.certificates"
	if diff "$OUT/certificates" "$OUT/$1.certificates" >&2; then
		log "$1: the certificates are the same"
	else
		failed=1
	fi
	$K exec deploy/web -c main -- /pause -v >"$OUT/$1.exec" 2>&1 || { log "exec fails: $(cat "$OUT/$1.exec")"; failed=1; }
}
stop "$D/node.pid" 15
start "$D/bin/kubelet" '*wardlet*' || exit 1
check wardlet
stop "$D/node.pid" 15
rm -r "$AGENT_ROOT/pki"
start "$D/bin/kubelet" '*wardlet*' || exit 1
for _ in $(seq 300); do
	certificates >"$OUT/requested" 2>&1 && break
	sleep 0.1
done
if [ "$(diff "$OUT/certificates" "$OUT/requested" | grep -c '^> serial')" -ne 2 ]; then
	log "wardlet has not requested both certificates: $(cat "$OUT/requested")"
	exit 1
fi
mv "$OUT/requested" "$OUT/certificates"
stop "$D/node.pid" 15
start "$BIN/kubelet" 'v1.36.3' || exit 1
check kubelet
exit $failed
