// Command cluster measures what the node agent of a cluster costs: Wardlet and a real kubelet, one after the other on one
// control plane and one containerd, each through a proxy that counts its requests.
//
// Comes in: the project's directory with all that tools/setup.sh conformance kubelet and make build make. Goes out: a line of
// JSON with all figures so far whenever there is another one, as test/bench reads it.
//
// Each agent has a turn in each round: it starts and settles without pods; 30 pods come and go one after the other, and a
// watch sees when each is Running; probes fail and recover at moments that a server of the bench tells; a ConfigMap that 100 pods use
// changes; then there are 60 pods, and processor time and memory are read; then 100, and requests and bytes are counted. Bytes are those on the wire in both directions, with TLS and headers. The floor of a start are the
// calls to the runtime that a pod needs, with nothing between them.
package main
