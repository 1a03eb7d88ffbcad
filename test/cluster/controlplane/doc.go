// Package controlplane runs a real kube-apiserver with etcd for tests: a cluster without nodes.
//
// Comes in: where the programs are (tools/setup.sh cluster builds them). Goes out: a server on loopback ports, and its
// keys. All files lie in a directory of its own. A goroutine per program waits for it; Stop waits for those. The kernel
// ends the programs when the process that started them ends in any way, and the next Start removes the directories that
// processes left behind.
package controlplane
