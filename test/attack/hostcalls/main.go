package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"

	"github.com/wardlet/wardlet/core/policy/wasm"
)

func main() {
	if status, isChild := wasm.Child(); isChild {
		os.Exit(status)
	}
	var o options
	flag.StringVar(&o.only, "only", "", "measure only the calls whose names match this expression")
	flag.BoolVar(&o.all, "all", false, "print the figures of all calls, not only of the dearest of each function")
	flag.BoolVar(&o.priceOnly, "prices", false, "measure prices only, not how long another tenant waits")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "hostcalls:", err)
		os.Exit(1)
	}
}

type options struct {
	only           string
	all, priceOnly bool
}

func run(ctx context.Context, out io.Writer, o options) error {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "wardlet-hostcalls-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// A handler that discards everything disables all levels, so that lines would cost nothing.
	engine, err := wasm.NewEngine(dir+"/compiled", slog.New(slog.NewJSONHandler(io.Discard, nil))) //nolint:sloglint // lines are to be written
	if err != nil {
		return err
	}
	dearest, tooDear, err := prices(ctx, out, engine, only, o.all)
	if err == nil && !o.priceOnly {
		err = besideAll(ctx, out, engine, dir, families(dearest))
	}
	return errors.Join(tooDear, err, engine.Close())
}
