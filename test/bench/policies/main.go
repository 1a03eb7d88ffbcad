package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/pprof"
	"strconv"
	"syscall"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/test/bench/policies/guest"
)

// run is one run of the program.
type run struct {
	// root is the directory of the project, dir where guests are built and
	// compiled code is kept.
	root, dir string
	rounds    int
	progress  io.Writer
	// compiling has plugins compiled otherwise than the agent does, for tests.
	compiling []wasm.EngineOption
}

func main() {
	if status, isChild := wasm.Child(); isChild {
		os.Exit(status)
	}
	os.Exit(mainCode())
}

func mainCode() int {
	r := &run{progress: os.Stderr}
	flag.StringVar(&r.root, "root", ".", "the project's directory")
	flag.StringVar(&r.dir, "dir", "build/policybench", "where guests are built, and compiled code is kept")
	flag.IntVar(&r.rounds, "rounds", 5, "how often each thing is measured")
	part := flag.String("part", "", "measure this part only, in this process, and print its rounds")
	profile := flag.String("profile", "", "write a profile of the processor time of a part to this file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := r.do(ctx, os.Stdout, *part, *profile, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "policies:", err)
		return 1
	}
	return 0
}

// parts are what is measured in a process each. Arguments are the part's own.
var parts = map[string]func(ctx context.Context, r *run, args []string) (series, error){
	"decide":   measureDecisions,
	"metering": measureMetering,
	"planes":   measurePlanes,
	"swap":     measureSwaps,
	"ready":    measureReady,
	"resident": measureResident,
}

func (r *run) do(ctx context.Context, out io.Writer, part, profile string, args []string) (err error) {
	if r.rounds < 1 {
		return errors.New("rounds: at least 1")
	}
	var result any
	if part == "" {
		if result, err = r.all(ctx); err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(result)
	}
	measure, ok := parts[part]
	if !ok {
		return fmt.Errorf("no part is named %q", part)
	}
	if profile != "" {
		file, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := pprof.StartCPUProfile(file); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	measured, err := measure(ctx, r, args)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(measured)
}

// all builds the guests and measures everything.
func (r *run) all(ctx context.Context) ([]figure, error) {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return nil, err
	}
	for _, g := range guest.All() {
		fmt.Fprintf(r.progress, "policies: building guest %s\n", g)
		if err := g.Build(ctx, r.root, r.dir); err != nil {
			return nil, err
		}
	}
	if err := guest.BuildExample(ctx, r.root, r.dir); err != nil {
		return nil, err
	}
	if err := r.dropStale(); err != nil {
		return nil, err
	}
	measured := series{}
	for _, once := range []string{"decide", "metering", "planes", "swap"} {
		fmt.Fprintf(r.progress, "policies: %s\n", once)
		if err := r.start(ctx, measured, once); err != nil {
			return nil, err
		}
	}
	for _, part := range processes {
		fmt.Fprintf(r.progress, "policies: %s\n", part.name)
		for _, args := range part.args {
			// What is compiled, is before the first round.
			if err := r.start(ctx, series{}, part.name, args...); err != nil {
				return nil, err
			}
		}
		for range r.rounds {
			for _, args := range part.args {
				if err := r.start(ctx, measured, part.name, args...); err != nil {
					return nil, err
				}
			}
		}
	}
	return figures(measured)
}

// processes are the parts that begin anew in each round.
var processes = []struct {
	name string
	args [][]string
}{
	{"ready", [][]string{{"go-projection"}, {"go-document"}, {"c-projection"}}},
	{"resident", [][]string{
		{"agent", "go", "other"},
		{"bare", "go", "other"},
		{"agent", "go", "same"},
		{"bare", "go", "same"},
		{"agent", "c", "other"},
		{"bare", "c", "other"},
	}},
}

// start measures a part in a process of its own.
func (r *run) start(ctx context.Context, into series, part string, args ...string) error {
	command := exec.CommandContext(ctx, "/proc/self/exe",
		append([]string{"-root", r.root, "-dir", r.dir, "-rounds", strconv.Itoa(r.rounds), "-part", part}, args...)...)
	var errs bytes.Buffer
	command.Stderr = &errs
	text, err := command.Output()
	if err != nil {
		return fmt.Errorf("%s %v: %w: %s", part, args, err, errs.Bytes())
	}
	var measured series
	if err := json.Unmarshal(text, &measured); err != nil {
		return fmt.Errorf("%s %v: %w", part, args, err)
	}
	into.merge(measured)
	return nil
}
