#!/bin/bash
# down.sh [DIR] [-k]: ends only the processes up.sh and the node script recorded in DIR (pid + start time), their pods, bridge, mounts, cgroups. -k keeps DIR
set -uo pipefail
. "$(dirname "$(readlink -f "$0")")/lib.sh"; D=${1:-${CONFORMANCE_DIR:-$(cat "$CACHE/last" 2>/dev/null)}}; [ -d "$D" ] || { log "no $D"; exit 2; }
for n in node login logind sched kcm apiserver etcd registry; do stop "$D/$n.pid"; done
[ -s "$D/ctrd/containerd.pid" ] && KEEP=${KEEP:-0} "$HERE/stop-containerd.sh" "$D/ctrd"
awk -v d="$D/" 'index($2,d)==1{print $2}' /proc/mounts | sort -r | while read -r m; do umount -l "$m" 2>/dev/null; done
for link in tap bridge; do [ -s "$D/$link" ] && ip link del "$(cat "$D/$link")" 2>/dev/null; done
H=$(printf %s "$(readlink -f "$D")" | cksum | cut -d' ' -f1)
for h in /sys/fs/cgroup/*/; do [ -d "$h/conf$H" ] && find "$h/conf$H" -depth -type d -exec rmdir {} + 2>/dev/null; done
[ "$(cat "$CACHE/last" 2>/dev/null)" = "$D" ] && rm -f "$CACHE/last"
[ "${2:-}" = -k ] || rm -rf "$D"; log "down $D"
