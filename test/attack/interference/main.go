// Command interference runs the attacks of two tenants beside the policy of a third. It fails if
// the third tenant, or the process, is disturbed.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm"
)

func main() {
	if status, isChild := wasm.Child(); isChild {
		os.Exit(status)
	}
	var o options
	flag.DurationVar(&o.calm, "calm", time.Minute, "how long well-behaved policies run, for comparison")
	flag.DurationVar(&o.early, "early", 30*time.Second, "how long the attacks run first, while it is counted how long guests stay in their code")
	flag.DurationVar(&o.storm, "storm", 5*time.Minute+10*time.Second, "how long they run then; it must be longer than -second")
	flag.DurationVar(&o.stays, "stays", 30*time.Second, "how long they run once more, while stays are counted again")
	flag.DurationVar(&o.first, "first", time.Minute, "when in -storm it is looked first at memory, open files and goroutines")
	flag.DurationVar(&o.second, "second", 5*time.Minute, "when it is looked at them again")
	flag.StringVar(&o.plugin, "plugin", "build/policies/allowed-images.wasm", "the well-behaved plugin: allowed-images")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "interference:", err)
		os.Exit(1)
	}
}

type options struct {
	calm, early, storm, stays time.Duration
	first, second             time.Duration
	plugin                    string
}

func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "wardlet-interference-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	stays := &wasm.Stays{}
	engine, err := wasm.NewEngine(dir+"/compiled", slog.New(slog.DiscardHandler), wasm.WithStays(stays))
	if err != nil {
		return err
	}
	b, err := newBench(ctx, engine, stays, dir, o)
	if err != nil {
		return err
	}
	err = b.measure(ctx)
	b.close()
	if closing := engine.Close(); err == nil {
		err = closing
	}
	return err
}
