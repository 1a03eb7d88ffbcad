// Package cluster tests the API server source against a real kube-apiserver with etcd: what the source's sink holds in
// the end is what the server lists, whatever happened to server, network and credentials in between.
//
// The tests are behind the build tag e2e; they need the programs of `tools/setup.sh cluster` and no privileges. Most share
// one server, with a node and namespaces of their own; those that stop or change the server have one of their own.
package cluster
