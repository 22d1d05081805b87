// Command etcd is the etcd server: its own module cannot be installed as it is, because it replaces modules by folders
// of its repository.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
