#!/bin/bash
# start-containerd.sh DIR BRIDGE SUBNET: containerd (built by build.sh) with its own directories, CNI on the bridge, no systemd, no registry.
# Prints the CRI socket. env: OCI_RUNTIME=runc|/path, SNAPSHOTTER=overlayfs|native
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"
[ "$(id -u)" = 0 ] || { log "must be root"; exit 1; }
D=${1:?usage: start-containerd.sh DIR BRIDGE SUBNET} CNI_BRIDGE=$2 CNI_SUBNET=$3 OCI_RUNTIME=${OCI_RUNTIME:-runc} SNAPSHOTTER=${SNAPSHOTTER:-overlayfs}
mkdir -p "$D"/{root,state,cni/net.d,certs.d}
RUNC_BIN=$(command -v "$OCI_RUNTIME") || { log "no $OCI_RUNTIME"; exit 1; }
CNI_BIN=/usr/lib/cni; [ -x $CNI_BIN/bridge ] || CNI_BIN=/opt/cni/bin
cat >"$D/cni/net.d/10-bridge.conflist" <<J
{"cniVersion":"0.4.0","name":"$CNI_BRIDGE","plugins":[{"type":"bridge","bridge":"$CNI_BRIDGE","isGateway":true,"ipMasq":false,
"ipam":{"type":"host-local","dataDir":"$D/cni/ipam","ranges":[[{"subnet":"$CNI_SUBNET"}]],"routes":[{"dst":"0.0.0.0/0"}]}},{"type":"portmap","capabilities":{"portMappings":true}}]}
J
handler() { cat <<T
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.$1]
      runtime_type = 'io.containerd.runc.v2'
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.$1.options]
        BinaryName = '$2'
        SystemdCgroup = false
        Root = '$D/$3'
T
}
# restrict_oom_score_adj: root of this machine may lack CAP_SYS_RESOURCE, so that a negative oom_score_adj cannot be set.
cat >"$D/config.toml" <<T
version = 3
root = '$D/root'
state = '$D/state'
imports = []
[grpc]
  address = '$D/ctrd.sock'
[ttrpc]
  address = '$D/ctrd.sock.ttrpc'
[plugins.'io.containerd.cri.v1.images']
  snapshotter = '$SNAPSHOTTER'
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = '$(cat "$CACHE/img/pause.ref")'
  [plugins.'io.containerd.cri.v1.images'.registry]
    config_path = '$D/certs.d'
[plugins.'io.containerd.cri.v1.runtime']
  netns_mounts_under_state_dir = true
  restrict_oom_score_adj = ${RESTRICT_OOM:-true}
  disable_apparmor = true
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = 'runc'
$(handler runc "$RUNC_BIN" runc; handler test-handler "$RUNC_BIN" runc; ! command -v crun >/dev/null || handler crun "$(command -v crun)" crun)
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ['$CNI_BIN']
    conf_dir = '$D/cni/net.d'
[plugins.'io.containerd.grpc.v1.cri']
  stream_server_address = '127.0.0.1'
  stream_server_port = '0'
[plugins.'io.containerd.nri.v1.nri']
  disable = true
[plugins.'io.containerd.internal.v1.opt']
  path = '$D/opt'
T
PATH=$BIN:$PATH setsid "$BIN/containerd" --config "$D/config.toml" >"$D/containerd.log" 2>&1 </dev/null &
record "$D/containerd.pid" $!; echo "$CNI_BRIDGE" >"$D/bridge"
fail() { log "$1"; tail -20 "$D/containerd.log" >&2; stop "$D/containerd.pid"; exit 1; }
for i in $(seq 150); do
  alive "$D/containerd.pid" || fail "containerd died"
  "$BIN/ctr" -a "$D/ctrd.sock" version >/dev/null 2>&1 && break; sleep 0.1; [ "$i" != 150 ] || fail "containerd is not ready after 15 s"; done
echo "$D/ctrd.sock"
