// Command cluster measures the cost of the node agent of a cluster: Wardlet and a real kubelet, one
// after the other on one control plane and one containerd, each through a proxy that counts its
// requests.
//
// Comes in: the project's directory after tools/setup.sh conformance kubelet and make build. Goes
// out: a line of JSON with all figures so far whenever there is a new one, as test/bench reads it.
//
// Each agent has a turn in each round. It joins as a new node several times, and settles without
// pods. Then 30 pods come and go
// one after the other, and a watch sees when each is Running. Probes fail and recover at moments
// that a server of the bench reports. A ConfigMap that 100 pods use changes. With 60 pods,
// processor time and memory are read; with 100 pods, requests and bytes are counted, and processor
// time is read while their statistics are asked for. A file fills the small file system of pods, and
// its pod is evicted. Bytes are those on the wire in both directions, with TLS and headers. The floor
// of a start is the time of the calls to the runtime that a pod needs, with nothing between them.
package main
