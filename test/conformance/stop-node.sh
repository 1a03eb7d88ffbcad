#!/bin/bash
# stop-node.sh [DIR]: ends the node agent of the instance (not its pods), so that another can take its place
. "$(dirname "$(readlink -f "$0")")/lib.sh"; instance "${1:-}"; stop "$D/node.pid" 10
