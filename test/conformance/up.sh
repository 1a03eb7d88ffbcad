#!/bin/bash
# up.sh [DIR]: control plane (etcd, kube-apiserver, kube-controller-manager, kube-scheduler) on 127.0.0.1, containerd with CNI bridge,
# a registry mirror on 127.0.0.1 and the test images. Prints the instance's env file (KUBECONFIG, CRI_SOCK, NODE_NAME, NODE_IP ...).
# env: AUDIT=1 (the API server writes DIR/audit.log, from which confgroups makes groups.txt), APISERVER_EXTRA, KCM_EXTRA, NODE_NAME (node1),
# MACHINE=1 (the node is a machine of its own: a tap device for it is on the bridge, where also the API server and the mirror are; no
# containerd is started, DIR/ctrd/certs.d and DIR/machine.conflist are for the one of the machine)
# Then start a node agent (node-kubelet.sh, or another that reads DIR/env and writes DIR/node.pid), then run.sh FOCUS, then down.sh.
set -Eeuo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"
D=${1:-$(mktemp -d)}; mkdir -p "$D"; D=$(readlink -f "$D"); chmod 755 "$D"; N=${NODE_NAME:-node1}; T0=$(date +%s%N)
H=$(printf %s "$D" | cksum | cut -d' ' -f1); BR=cfb$((H % 1000000)); P=10.$((128 + H % 64)).$((H / 64 % 16 * 16)); NET=$P.0/20; IP=$P.1; LISTEN=127.0.0.1; NODE=$IP; TAP=
[ -z "${MACHINE:-}" ] || { LISTEN=$IP; NODE=$P.2; TAP=${BR}t; }
# A subshell that fails says nothing: the command that it is part of does, if its failure matters.
on_err() { [ "$BASH_SUBSHELL" = 0 ] || return 0; trap - ERR; log "line $1 failed: $2; see $D/*.log"; tail -n 5 "$D"/*.log >&2 || true; "$HERE/down.sh" "$D" || true; }
trap 'on_err "$LINENO" "$BASH_COMMAND"' ERR
# --- the node's network: a bridge made here; its address is the node's IP (kubelet refuses loopback as a node IP)
ip link add "$BR" type bridge; ip addr add "$IP/20" dev "$BR"; ip link set "$BR" up; echo "$BR" >"$D/bridge"
# A virtual machine drops frames that are larger than its MTU, so none may be sent there in one piece.
[ -z "$TAP" ] || { ip tuntap add "$TAP" mode tap; echo "$TAP" >"$D/tap"; ip link set "$TAP" up master "$BR" gso_max_segs 1; }
# --- cgroup parent for the agent, in every hierarchy
CG=/conf$H; for h in /sys/fs/cgroup/*/; do [ "$(stat -fc %T "$h")" = tmpfs ] && continue; mkdir -p "$h$CG"
  for f in cpuset.cpus cpuset.mems; do [ -f "$h$CG/$f" ] && cat "$h/$f" >"$h$CG/$f"; done; done; true
# --- agent directory on a shared mount (for mount propagation)
mkdir -p "$D"/{agent,logs,manifests,k8s}; mount --bind "$D/agent" "$D/agent"; mount --make-rshared "$D/agent"
# --- keys
cd "$D/k8s"; ec() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }
ec sa; ec ca; openssl req -x509 -new -key ca.key -subj /CN=conf-ca -days 3650 -out ca.crt 2>/dev/null
mk() { ec "$1"; openssl req -new -key "$1.key" -subj "$2" 2>/dev/null | openssl x509 -req -CA ca.crt -CAkey ca.key \
  -set_serial 0x$(od -An -N7 -tx1 /dev/urandom | tr -d ' \n') -days 3650 -extfile <(printf "$3") -out "$1.crt" 2>/dev/null; }
C='extendedKeyUsage=clientAuth'
mk apiserver /CN=kube-apiserver "subjectAltName=IP:127.0.0.1,IP:$LISTEN,IP:10.96.0.1,DNS:localhost,DNS:kubernetes.default.svc\nextendedKeyUsage=serverAuth"
mk admin /O=system:masters/CN=admin $C; mk node "/O=system:nodes/CN=system:node:$N" $C; mk kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client $C
mk front-proxy /CN=front-proxy $C  # as which the API server asks servers of other APIs
mk kcm /CN=system:kube-controller-manager $C; mk sched /CN=system:kube-scheduler $C
mk kubelet-serving "/O=system:nodes/CN=system:node:$N" "subjectAltName=IP:$NODE,IP:127.0.0.1,DNS:$N\nextendedKeyUsage=serverAuth"
TOKEN=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n'); (umask 077; echo "$TOKEN,admin,admin,system:masters" >tokens)  # what test/e2e_node logs in with
EP=$(free_port); AP=$(free_port); RP=$(free_port); KP=$(free_port); SP=$(free_port); U=https://$LISTEN:$AP
for u in admin node kcm sched; do cat >$u.kubeconfig <<Y
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "$U", certificate-authority: $D/k8s/ca.crt}}]
users: [{name: u, user: {client-certificate: $D/k8s/$u.crt, client-key: $D/k8s/$u.key}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
Y
done
bg() { local n=$1; shift; setsid "$@" >"$D/$n.log" 2>&1 </dev/null & record "$D/$n.pid" $!; }
AU=; if [ -n "${AUDIT:-}" ]; then AU="--audit-policy-file=$D/k8s/audit.yaml --audit-log-path=$D/audit.log --audit-log-maxsize=2000"; cat >audit.yaml <<Y
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: None, users: [system:kube-scheduler, system:kube-controller-manager], verbs: [get, list, watch, update, patch]}
- {level: Request, verbs: [create, patch, update], resources: [{group: "", resources: [pods, pods/ephemeralcontainers, pods/resize]}]}
- {level: Metadata, resources: [{group: "", resources: [pods/exec, pods/attach, pods/portforward, pods/log, pods/proxy, services/proxy, nodes/proxy, services, serviceaccounts/token]}]}
- {level: Metadata, verbs: [create], resources: [{group: ""}, {group: node.k8s.io}]}
- {level: None}
Y
fi
bg etcd "$BIN/etcd" --name=default --data-dir="$D/etcd" --listen-client-urls=http://127.0.0.1:$EP --advertise-client-urls=http://127.0.0.1:$EP \
  --listen-peer-urls=http://127.0.0.1:0 --initial-advertise-peer-urls=http://127.0.0.1:2380 --initial-cluster=default=http://127.0.0.1:2380 --log-level=warn --unsafe-no-fsync
bg apiserver "$BIN/kube-apiserver" --etcd-servers=http://127.0.0.1:$EP --bind-address=$LISTEN --advertise-address=$IP --secure-port=$AP \
  --tls-cert-file=apiserver.crt --tls-private-key-file=apiserver.key --cert-dir="$D/k8s/certs" --client-ca-file=ca.crt --authorization-mode=Node,RBAC \
  --enable-admission-plugins=NodeRestriction --service-account-issuer=https://kubernetes.default.svc --service-account-key-file=sa.key \
  --service-account-signing-key-file=sa.key --service-cluster-ip-range=10.96.0.0/16 --endpoint-reconciler-type=none --allow-privileged=true --profiling=false \
  --kubelet-client-certificate=kubelet-client.crt --kubelet-client-key=kubelet-client.key --kubelet-certificate-authority=ca.crt \
  --requestheader-client-ca-file=ca.crt --requestheader-allowed-names=front-proxy --requestheader-username-headers=X-Remote-User \
  --requestheader-group-headers=X-Remote-Group --requestheader-extra-headers-prefix=X-Remote-Extra- \
  --proxy-client-cert-file=front-proxy.crt --proxy-client-key-file=front-proxy.key --enable-aggregator-routing=true \
  --kubelet-preferred-address-types=InternalIP --token-auth-file="$D/k8s/tokens" $AU ${APISERVER_EXTRA:-}
# --- containerd + registry mirror, while the API server starts
S=
[ -n "${MACHINE:-}" ] || { "$HERE/start-containerd.sh" "$D/ctrd" "$BR" "$NET" >"$D/ctrd.sockpath"; S=$(cat "$D/ctrd.sockpath"); }
bg registry "$BIN/conformance-mirror" $LISTEN:$RP "$CACHE/regblobs" "$CACHE"/img/*.tar
# every registry is answered by the mirror, so that nothing leaves the machine; localhost:5000 is the fake registry that tests run in a pod of the node
hosts() { mkdir -p "$D/ctrd/certs.d/$1"; printf 'server = "http://%s"\n[host."http://%s"]\n  capabilities = ["pull", "resolve"]\n' "$2" "$2" >"$D/ctrd/certs.d/$1/hosts.toml"; }
hosts _default "$LISTEN:$RP"; hosts localhost:5000 localhost:5000
CTR="$BIN/ctr -a $S -n k8s.io"
[ -z "$S" ] || for t in "$CACHE"/img/*.tar; do $CTR images import --local --snapshotter "${SNAPSHOTTER:-overlayfs}" "$t" >>"$D/import.log" 2>&1; done
for i in $(seq 600); do grep -q '^ready' "$D/registry.log" && break; alive "$D/registry.pid"; sleep 0.1; done
# --- wait for the control plane
K="$BIN/kubectl --kubeconfig=$D/k8s/admin.kubeconfig"
for i in $(seq 600); do [ "$($K get --raw /readyz 2>/dev/null)" = ok ] && break; alive "$D/apiserver.pid"; alive "$D/etcd.pid"; sleep 0.1; done
bg kcm "$BIN/kube-controller-manager" --kubeconfig=kcm.kubeconfig --authentication-kubeconfig=kcm.kubeconfig --authorization-kubeconfig=kcm.kubeconfig --leader-elect=false --bind-address=127.0.0.1 \
  --secure-port=$KP --service-account-private-key-file=sa.key --root-ca-file=ca.crt --use-service-account-credentials=true --cluster-signing-cert-file=ca.crt --cluster-signing-key-file=ca.key --profiling=false ${KCM_EXTRA:-}
bg sched "$BIN/kube-scheduler" --kubeconfig=sched.kubeconfig --authentication-kubeconfig=sched.kubeconfig --authorization-kubeconfig=sched.kubeconfig --leader-elect=false --bind-address=127.0.0.1 --secure-port=$SP --profiling=false
for i in $(seq 600); do $K -n default get sa/default cm/kube-root-ca.crt >/dev/null 2>&1 && curl -skf https://127.0.0.1:$SP/healthz >/dev/null && break; alive "$D/kcm.pid"; alive "$D/sched.pid"; sleep 0.1; done
# --- on a machine of its own, the bridge cni0 has the node's address and the tap device; pods have further addresses of the network
[ -z "${MACHINE:-}" ] || cat >"$D/machine.conflist" <<J
{"cniVersion":"0.4.0","name":"machine","plugins":[{"type":"bridge","bridge":"cni0","hairpinMode":true,
"ipam":{"type":"host-local","ranges":[[{"subnet":"$NET","rangeStart":"$P.16","gateway":"$NODE"}]],"routes":[{"dst":"0.0.0.0/0"}]}},{"type":"portmap","capabilities":{"portMappings":true}}]}
J
cat >"$D/env" <<E
CONFORMANCE_DIR=$D
KUBECONFIG=$D/k8s/admin.kubeconfig
APISERVER=$U
ADMIN_TOKEN=$TOKEN
NODE_KUBECONFIG=$D/k8s/node.kubeconfig
NODE_NAME=$N
NODE_IP=$NODE
POD_CIDR=$NET
CRI_SOCK=$S
CGROUP_ROOT=$CG
AGENT_ROOT=$D/agent
STATIC_PODS=$D/manifests
POD_LOGS=$D/logs
CLIENT_CA=$D/k8s/ca.crt
SERVING_CERT=$D/k8s/kubelet-serving.crt
SERVING_KEY=$D/k8s/kubelet-serving.key
CLUSTER_DNS=10.96.0.10
CTR="$CTR"
TAP=$TAP
E
echo "$D" >"$CACHE/last"; log "up in $(( ($(date +%s%N) - T0) / 1000000 )) ms: $D"; cat "$D/env"
