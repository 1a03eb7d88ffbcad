package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/wardlet/wardlet/test/harness"
)

// endings are the signals that end a demonstration early. They come from a person, a service
// manager, a terminal or a pipe.
var endings = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE}

func main() { os.Exit(mainCode()) }

func mainCode() int {
	wardlet := flag.String("wardlet", "build/wardlet", "the agent")
	policies := flag.String("policies", "build/policies", "the directory make plugins wrote")
	flag.Parse()
	if os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "demo: it starts real containers, which needs root: run it as root, or with sudo -E")
		return 1
	}
	t := &tour{out: newScreen(os.Stdout)}
	return perform(&performance{
		out: t.out, within: time.Minute,
		setUp: func() ([]step, error) {
			return t.setUp(harness.Config{Name: "demo", Wardlet: *wardlet, Policies: *policies, Settings: harness.Settings{Node: nodeName}})
		},
		cleanUp: t.cleanUp, agentLog: t.agentLog, shield: shield,
	})
}

// perform runs a performance until its end or a signal, and returns the exit status.
func perform(p *performance) int {
	ctx, stop := signal.NotifyContext(context.Background(), endings...)
	defer stop()
	if p.run(ctx) != nil {
		return 1
	}
	return 0
}

// shield makes this process, and the programs it runs from now on, ignore further signals.
func shield() { signal.Ignore(endings...) }
