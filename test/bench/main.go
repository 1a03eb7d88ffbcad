package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// bench measures some figures.
type bench struct {
	name    string
	measure func(ctx context.Context, r *run) ([]figure, error)
}

// benches are all of them, in the order they run in.
var benches = []bench{
	{"mux", measureMux},
	{"relist", measureRelist},
	{"manifests", measureManifests},
	{"policies", measurePolicies},
	{"lifecycle", measureLifecycle},
}

// run is one run of the program.
type run struct {
	// root is the directory of the project, tools where programs are built to.
	root, tools string
	rounds      int
	progress    io.Writer
}

func main() { os.Exit(mainCode()) }

func mainCode() int {
	r := &run{progress: os.Stderr}
	flag.StringVar(&r.root, "root", ".", "the project's directory")
	flag.IntVar(&r.rounds, "rounds", 5, "how often each thing is measured")
	only := flag.String("only", "", "run this bench only")
	out := flag.String("out", "build/bench.json", "where the figures are written to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := r.all(ctx, os.Stdout, *only, *out); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

// all runs the benches, prints the figures and writes them to a file. A limit
// that is missed is an error, after everything was measured.
func (r *run) all(ctx context.Context, table io.Writer, only, out string) error {
	if r.rounds < 1 {
		return errors.New("rounds: at least 1")
	}
	root, err := filepath.Abs(r.root)
	if err != nil {
		return err
	}
	r.root, r.tools = root, filepath.Join(root, "build", "tools")
	var figures []figure
	found := false
	for _, b := range benches {
		if only != "" && only != b.name {
			continue
		}
		found = true
		more, err := b.measure(ctx, r)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		figures = append(figures, more...)
	}
	if !found {
		return fmt.Errorf("no bench is named %q", only)
	}
	printTable(table, figures)
	if err := write(out, figures); err != nil {
		return err
	}
	if missed := missed(figures); len(missed) > 0 {
		return fmt.Errorf("limits are missed: %v", missed)
	}
	return nil
}
