// Command etcd is the released etcd. Another module can require the module of etcd, but etcd's
// command cannot be installed from its own module.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
