// Command etcd is etcd, as released: its own module can be required by
// another, but not installed by itself.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
