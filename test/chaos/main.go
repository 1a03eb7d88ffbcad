package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() { os.Exit(mainCode()) }

func mainCode() int {
	wardlet := flag.String("wardlet", "build/wardlet", "the agent")
	policies := flag.String("policies", "build/policies", "the directory make plugins wrote")
	logs := flag.String("logs", "build/chaos", "the directory for logs of a run that failed")
	whole := flag.Duration("for", 10*time.Minute, "how long to disturb, about")
	seed := flag.Uint64("seed", 0, "what is done when; 0 for one of its own")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		return 2
	}
	if os.Geteuid() != 0 {
		fmt.Fprintln(os.Stderr, "chaos: it starts real containers, which needs root: run it as root, or with sudo -E")
		return 1
	}
	if *seed == 0 {
		*seed = rand.Uint64()>>40 + 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := play(ctx, &options{
		form: formFor(*whole), shapes: shapes(), seed: *seed, wardlet: *wardlet, policies: *policies, logs: *logs, out: os.Stdout, report: os.Stderr,
	})
	if err == nil {
		return 0
	}
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		fmt.Fprintf(os.Stderr, "chaos: seed %d: %v\n", *seed, err)
	}
	return 1
}
