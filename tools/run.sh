#!/bin/sh
# Runs the agent in the foreground on agent.toml with a private container
# runtime, which is taken away when the agent ends. `make run` calls it.
set -eu
cd "$(dirname "$0")/.."
wardlet=$1
name=run-$$

manifests=/etc/wardlet/manifests
mkdir -p "$manifests"

trap 'build/tools/privateruntime down -name "$name"' EXIT
trap : INT TERM
CONTAINER_RUNTIME_ENDPOINT=$(build/tools/privateruntime up -name "$name" | sed -n 's/.*CONTAINER_RUNTIME_ENDPOINT=//p')
export CONTAINER_RUNTIME_ENDPOINT

echo "Put pod manifests into $manifests; images: registry.example/web:1, registry.example/web:2."
echo "In another terminal: $wardlet get pods. Ctrl-C ends the agent and its runtime."
"$wardlet" run --config agent.toml
