// Package controlplane runs a real kube-apiserver with etcd for tests: a cluster without nodes.
//
// Its input is the directory of the programs (tools/setup.sh cluster builds them). Its outputs are
// a server on loopback ports, and its keys. All files are in a directory of its own. One goroutine
// per program waits for it; Stop waits for these goroutines. The kernel kills the programs when the
// process that started them exits in any way, and the next Start removes the directories that such
// processes left behind.
package controlplane
