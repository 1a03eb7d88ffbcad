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
	"path/filepath"
	"runtime/pprof"
	"strconv"
	"syscall"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/test/bench/policies/guest"
)

// run is one run of the program.
type run struct {
	// root is the directory of the project, dir the directory of built guests and compiled code.
	root, dir string
	rounds    int
	progress  io.Writer
	// tell is called after each round of a part with the part's series so far; it may be nil.
	tell func(series) error
	// compiling are options that change how plugins are compiled, for tests.
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
	build := flag.Bool("build", false, "build the guests and measure nothing")
	part := flag.String("part", "", "measure this part only, in this process, and print its rounds")
	profile := flag.String("profile", "", "write a profile of the processor time of a part to this file")
	flag.Parse()
	// The process that compiles accepts only an absolute path.
	dir, err := filepath.Abs(r.dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "policies:", err)
		return 1
	}
	r.dir = dir
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	do := func() error { return r.do(ctx, os.Stdout, *part, *profile, flag.Args()) }
	if *build {
		do = func() error { return r.buildGuests(ctx) }
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "policies:", err)
		return 1
	}
	return 0
}

// parts are the measurements that run in a process each, with arguments of their own.
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
	if part == "" {
		return r.all(ctx, json.NewEncoder(out))
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
	lines := json.NewEncoder(out)
	r.tell = func(measured series) error { return lines.Encode(measured) }
	measured, err := measure(ctx, r, args)
	if err != nil {
		return err
	}
	return lines.Encode(measured)
}

// buildGuests builds the guests, and removes the compiled code of other guests.
func (r *run) buildGuests(ctx context.Context) error {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	for _, g := range guest.All() {
		if err := g.Build(ctx, r.root, r.dir); err != nil {
			return err
		}
	}
	if err := guest.BuildExample(ctx, r.root, r.dir); err != nil {
		return err
	}
	return r.dropStale()
}

// message is one line of the output: all figures measured so far.
type message struct {
	// Done is the share of the work that is done.
	Done    float64  `json:"done"`
	Figures []figure `json:"figures"`
}

// all builds the guests and measures everything. After each round of each part it writes a message,
// so that an interrupt loses only one round.
func (r *run) all(ctx context.Context, lines *json.Encoder) error {
	if err := r.buildGuests(ctx); err != nil {
		return err
	}
	measured, progress := series{}, progress{rounds: r.rounds}
	report := func(part string, round int, more series) error {
		return lines.Encode(message{progress.done(part, round), figuresOf(measured.with(more))})
	}
	for _, part := range []string{"decide", "metering", "planes", "swap"} {
		round := 0
		last, err := r.start(ctx, func(s series) error {
			round++
			return report(part, min(round, r.rounds), s)
		}, part)
		if err != nil {
			return err
		}
		measured = measured.with(last)
	}
	for _, part := range processes {
		for _, args := range part.args {
			// This run compiles the code before the first round.
			if _, err := r.start(ctx, ignore, part.name, args...); err != nil {
				return err
			}
		}
		for round := range r.rounds {
			for _, args := range part.args {
				last, err := r.start(ctx, ignore, part.name, args...)
				if err != nil {
					return err
				}
				measured = measured.with(last)
			}
			if err := report(part.name, round+1, nil); err != nil {
				return err
			}
		}
	}
	all, err := figures(measured)
	if err != nil {
		return err
	}
	return lines.Encode(message{1, all})
}

// told passes the series of a part so far to tell.
func (r *run) told(measured series) error {
	if r.tell == nil {
		return nil
	}
	return r.tell(measured)
}

func ignore(series) error { return nil }

// processes are the parts that start a new process in each round.
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

// start measures a part in a process of its own. It calls tell with each line of that process and
// returns the last line, which has all rounds.
func (r *run) start(ctx context.Context, tell func(series) error, part string, args ...string) (last series, err error) {
	command := exec.CommandContext(ctx, "/proc/self/exe",
		append([]string{"-root", r.root, "-dir", r.dir, "-rounds", strconv.Itoa(r.rounds), "-part", part}, args...)...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = stopPatience
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	last, err = readSeries(out, tell)
	if err != nil {
		_ = command.Cancel() // it may have exited already
		_, _ = io.Copy(io.Discard, out)
	}
	if err := errors.Join(err, command.Wait()); err != nil {
		return nil, fmt.Errorf("%s %v: %w: %s", part, args, err, errs.Bytes())
	}
	return last, nil
}

// stopPatience is how long an interrupted part may take to exit.
const stopPatience = 10 * time.Second

// readSeries calls tell with each of several series and returns the last one.
func readSeries(out io.Reader, tell func(series) error) (last series, err error) {
	for stream := json.NewDecoder(out); ; {
		var s series
		switch err := stream.Decode(&s); {
		case errors.Is(err, io.EOF):
			return last, nil
		case err != nil:
			return last, err
		}
		last = s
		if err := tell(s); err != nil {
			return last, err
		}
	}
}
