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
	"time"
)

// report receives the share of a bench that is done and all its figures so far.
type report func(done float64, figures []figure) error

// bench measures some figures.
type bench struct {
	name string
	// what describes the measurement in one line.
	what string
	// build makes the programs that measure needs; nil for none.
	build func(ctx context.Context, r *run) error
	// measure reports its figures whenever there are more of them, or more exact ones, than before.
	measure func(ctx context.Context, r *run, report report) error
	// expected returns how long a number of rounds takes on two cores, without building.
	expected func(rounds int) time.Duration
	// alone reports whether the bench runs only if it is named, because it takes too long.
	alone bool
}

// benches are all benches, in the order in which they run.
var benches = []bench{
	{"mux", "documents and updates, beside a kubelet's pod config", buildMux, measureMux, perRound(20*time.Second, 0), false},
	{"relist", "a full list of 500 pods, beside a kubelet's PLEG", buildRelist, measureRelist, perRound(10*time.Second, 0), false},
	{"manifests", "from a written manifest to its update", nil, measureManifests, perRound(0, time.Minute), false},
	{"policies", "decisions by plugins, beside CEL and OPA", buildPolicies, measurePolicies, perRound(90*time.Second, 90*time.Second), false},
	{"lifecycle", "pods on a real containerd, beside a kubelet (as root)", buildLifecycle, measureLifecycle, expectedLifecycle, false},
	{"cluster", "requests, starts and idle time on a control plane, beside a kubelet (as root)", buildCluster, measureCluster, expectedCluster, true},
}

// perRound returns an estimate that grows with the rounds.
func perRound(each, once time.Duration) func(rounds int) time.Duration {
	return func(rounds int) time.Duration { return time.Duration(rounds)*each + once }
}

// By default each bench has defaultRounds rounds, and all benches together take defaultTime without
// building. On a slower machine the lifecycle, which is measured last, has fewer rounds. cleaning
// is the time reserved for its cleanup.
const (
	defaultRounds = 3
	defaultTime   = 25 * time.Minute
	cleaning      = 30 * time.Second
)

// run is one run of the program.
type run struct {
	// root is the directory of the project, tools the directory of built programs.
	root, tools string
	rounds      int
	// within is how long measuring may take, 0 for any time; began is when it began.
	within   time.Duration
	began    time.Time
	progress io.Writer
}

// left returns how long the last bench may take, 0 for any time.
func (r *run) left() time.Duration {
	if r.within == 0 {
		return 0
	}
	return max(r.within-time.Since(r.began)-cleaning, time.Second)
}

func main() { os.Exit(mainCode()) }

func mainCode() int {
	r := &run{progress: os.Stderr}
	flag.StringVar(&r.root, "root", ".", "the project's directory")
	flag.IntVar(&r.rounds, "rounds", defaultRounds, "how often each thing is measured; by default fewer where that would take more than 25 minutes")
	only := flag.String("only", "", "run this bench only; cluster runs only so")
	out := flag.String("out", "build/bench.json", "where the figures are written to")
	flag.Parse()
	r.within = defaultTime
	flag.Visit(func(f *flag.Flag) {
		if f.Name == "rounds" {
			r.within = 0
		}
	})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := r.all(ctx, os.Stdout, *only, *out); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

// all runs the benches, writes each figure to a file as it comes, and prints all of them at the
// end. A missed limit is an error, returned after everything was measured. A bench that fails does
// not prevent the others from running. When ctx ends, the figures measured so far are kept and
// printed.
func (r *run) all(ctx context.Context, table io.Writer, only, out string) error {
	if r.rounds < 1 {
		return fmt.Errorf("invalid number of rounds %d: must be at least 1", r.rounds)
	}
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	root, err := filepath.Abs(r.root)
	if err != nil {
		return err
	}
	r.root, r.tools = root, filepath.Join(root, "build", "tools")
	s := &schedule{out: r.progress, now: time.Now}
	for _, b := range chosen {
		s.benches = append(s.benches, planned{name: b.name, what: b.what, expected: b.expected(r.rounds)})
	}
	s.plan()
	for _, b := range chosen {
		if b.build == nil {
			continue
		}
		if err := b.build(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
	}
	s.begin()
	r.began = time.Now()
	found := &results{path: out, figures: make([][]figure, len(chosen))}
	failed := r.measure(ctx, chosen, s, found)
	figures := found.all()
	if len(figures) > 0 {
		printTable(table, figures)
	}
	if ctx.Err() != nil {
		failed = append(failed, interrupted(out, figures))
	}
	if missed := missed(figures); len(missed) > 0 {
		failed = append(failed, fmt.Errorf("limits are missed: %v", missed))
	}
	return errors.Join(failed...)
}

// choose returns the benches to run.
func choose(only string) (chosen []bench, err error) {
	for _, b := range benches {
		if only == "" && !b.alone || only == b.name {
			chosen = append(chosen, b)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no bench is named %q", only)
	}
	return chosen, nil
}

// measure runs benches one after the other until ctx ends, and returns the errors of those that
// failed.
func (r *run) measure(ctx context.Context, chosen []bench, s *schedule, found *results) (failed []error) {
	for i, b := range chosen {
		if ctx.Err() != nil {
			return failed
		}
		err := b.measure(ctx, r, func(done float64, figures []figure) error {
			s.step(i, done)
			return found.set(i, figures)
		})
		if err != nil && ctx.Err() == nil {
			failed = append(failed, fmt.Errorf("%s: %w", b.name, err))
			s.leave(i)
		}
	}
	return failed
}

// interrupted returns an error that says which figures are left of an interrupted run.
func interrupted(out string, figures []figure) error {
	if len(figures) == 0 {
		return fmt.Errorf("interrupted before there was a figure; %s is as it was", out)
	}
	return fmt.Errorf("interrupted: %d figures so far are in %s, some of fewer rounds than asked for", len(figures), out)
}

// build runs one command that makes programs.
func (r *run) build(ctx context.Context, dir, what string, args ...string) error {
	cmd := commandIn(ctx, filepath.Join(r.root, dir), args...)
	began := time.Now()
	fmt.Fprintf(r.progress, "bench: building %s\n", what)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v in %s: %w\n%s", args, cmd.Dir, err, out)
	}
	if took := time.Since(began); took > 10*time.Second {
		fmt.Fprintf(r.progress, "bench: building %s took %s\n", what, took.Round(time.Second))
	}
	return nil
}
