// Package cluster tests the API server source against a real kube-apiserver with etcd. In the end
// the source's sink must hold what the server lists, whatever happened to the server, the network
// and the credentials in between.
//
// The tests are behind the build tag e2e; they need the programs of `tools/setup.sh cluster` and no
// privileges. Most tests share one server, with a node and namespaces of their own. Tests that stop
// or change a server start their own.
package cluster
