#!/bin/bash
# wait-node.sh [DIR]: waits up to 60 s until the node is Ready; fails at once if the agent ended, or lacks disk or memory: tests would wait.
. "$(dirname "$(readlink -f "$0")")/lib.sh"
instance "${1:-}"
K="$BIN/kubectl --kubeconfig=$KUBECONFIG"
for i in $(seq 120); do
	ready=$($K get node "$NODE_NAME" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}' 2>/dev/null)
	if [ "$ready" = True ]; then
		lacks=$($K get node "$NODE_NAME" -o 'jsonpath={range .status.conditions[?(@.status=="True")]}{.type}: {.message}{"\n"}{end}' | grep Pressure)
		[ -z "$lacks" ] && { log "the node is ready"; exit 0; }
		log "no pod can be scheduled here; make room on this machine: $lacks"
		exit 1
	fi
	alive "$D/node.pid" || { log "the agent ended"; tail -n 15 "$D/node.log" >&2; exit 1; }
	sleep 0.5
done
log "the node is not ready"
$K get node "$NODE_NAME" -o yaml >&2
exit 1
