// Command interference runs the attacks of two tenants beside the policy of a
// third, and fails where the third, or the process, would notice.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm"
)

func main() {
	if status, isChild := wasm.Child(); isChild {
		os.Exit(status)
	}
	var o options
	flag.DurationVar(&o.calm, "calm", time.Minute, "how long well-behaved policies run, for comparison")
	flag.DurationVar(&o.storm, "storm", 5*time.Minute+10*time.Second, "how long the attacks run; the limits on memory need more than 5m")
	flag.DurationVar(&o.stays, "stays", time.Minute, "how long they run once more, while it is counted how long guests stay in their code")
	flag.StringVar(&o.plugin, "plugin", "build/policies/allowed-images.wasm", "the well-behaved plugin: allowed-images")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "interference:", err)
		os.Exit(1)
	}
}

type options struct {
	calm, storm, stays time.Duration
	plugin             string
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
