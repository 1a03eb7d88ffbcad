// Command wardlet is the node agent and its command-line tool.
//
// Each subcommand has one file with its flags and its output. The commands get and policy are
// packages of their own. The agent itself is core/agent. The commands get the data that they print
// from the running agent through its local socket.
package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
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
	// The first signal cancels ctx. A second one kills the process if it is still running.
	context.AfterFunc(ctx, stop)
	a := &app{&cli.App{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr, Now: time.Now, Poll: time.Second}}
	args := os.Args[1:]
	if filepath.Base(os.Args[0]) == kubeletName {
		args = append([]string{kubeletName}, args...)
	}
	return a.execute(ctx, args)
}
