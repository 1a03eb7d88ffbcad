// Command logind is a D-Bus with a stand-in for systemd-logind, at a unix socket. Kubernetes' node
// tests send the signal of a shutdown as any client of the bus can; a node agent heeds only logind's
// own. The stand-in sends the signal that it gets from a test on to all clients as its own.
//
//	logind SOCKET
//
// It prints "ready" once it listens, and runs until it is killed.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/wardlet/wardlet/test/fakelogind"
)

// longestDelay is more than the nodes of all tests need for a shutdown.
const longestDelay = 10 * time.Minute

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: logind SOCKET")
		os.Exit(2)
	}
	bus := fakelogind.New(os.Args[1], longestDelay, func(fault ...any) { fmt.Fprintln(os.Stderr, append([]any{"logind:"}, fault...)...) })
	if err := bus.Listen(); err != nil {
		fmt.Fprintln(os.Stderr, "logind:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, "ready")
	for lock := range bus.Inhibits { // so that the channel never fills up
		fmt.Fprintf(os.Stdout, "%s takes a lock: %s\n", lock.Who, lock.Why)
	}
}
