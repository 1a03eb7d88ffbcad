// Command wardlet is the node agent and the tool to ask it.
//
// One file per subcommand: its flags and its output, nothing else. The commands get and policy are
// packages of their own. The agent itself is core/agent; what the commands print comes from the
// running agent through its local socket.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/agent"
)

// version is the release, set by the linker: -X main.version=v1.2.3.
var version string

func main() {
	if status, isChild := agent.Child(); isChild {
		os.Exit(status)
	}
	os.Exit(mainCode())
}

func mainCode() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends a process that does not end by the first.
	context.AfterFunc(ctx, stop)
	a := &app{&cli.App{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr, Now: time.Now, Poll: time.Second}}
	return a.execute(ctx, os.Args[1:])
}
