package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// options sets what is measured and how.
type options struct {
	// root is the directory of the project, with all built programs in build.
	root string
	// rounds is how often every side has its turn, pods is the number of pods of a crowd, and
	// single is how often a measurement of a single pod is repeated in a round.
	rounds, pods, single int
	// long is in how many of the rounds, from the first on, idle time and memory are also measured.
	long int
	// within is how long all rounds may take. Rounds that would exceed it are left out, except the
	// first. 0 is no limit.
	within time.Duration
	// settle is how long a side has before its idle time is measured, window is how long idle time
	// is measured, and aged is how long after the last change memory is read.
	settle, window, aged time.Duration
	// parts are the parts of the current round, every those of all rounds.
	parts, every parts
	// report receives the series measured so far, and the share of the work that is done.
	report func(done float64, measured series) error
	// trace is the file for all calls of agents to the runtime, empty for none.
	trace    string
	progress io.Writer
}

func main() { os.Exit(mainCode()) }

func mainCode() int {
	o := &options{progress: os.Stderr}
	flag.StringVar(&o.root, "root", ".", "the project's directory")
	flag.IntVar(&o.rounds, "rounds", 10, "how often every side has its turn")
	flag.IntVar(&o.long, "long", 0, "in how many rounds idle time and memory are measured, too, which takes minutes; 0: in all")
	flag.DurationVar(&o.within, "within", 0, "leave out rounds that would end later than this, but for the first; 0 for none")
	flag.IntVar(&o.pods, "pods", 60, "how many pods a burst has; the limits are for 60")
	flag.IntVar(&o.single, "single", 5, "how many starts, updates and restarts a round has")
	flag.DurationVar(&o.settle, "settle", 15*time.Second, "how long a burst has to settle before idle time is measured")
	flag.DurationVar(&o.window, "window", 60*time.Second, "how long idle time is measured")
	flag.DurationVar(&o.aged, "aged", 60*time.Second, "how long after the last change memory is read")
	part := flag.String("part", "", "measure these parts only, as in start,update (of "+allParts+")")
	flag.StringVar(&o.trace, "trace", "", "write every call an agent makes to the runtime to this file; figures are worse with it")
	short := flag.Bool("short", false, "one round with few pods and short times, to see whether it works; its figures mean nothing")
	flag.Parse()
	if *short {
		o.rounds, o.pods, o.single = 1, 8, 2
		o.settle, o.window, o.aged = time.Second, 3*time.Second, 5*time.Second
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := o.do(ctx, os.Stdout, *part); err != nil {
		fmt.Fprintln(os.Stderr, "lifecycle:", err)
		return 1
	}
	return 0
}

func (o *options) do(ctx context.Context, out io.Writer, part string) (err error) {
	if o.parts, err = parseParts(part); err != nil {
		return err
	}
	if o.rounds < 1 || o.pods < 1 || o.single < 1 || o.long < 0 {
		return errors.New("rounds, pods and single: at least 1; long: at least 0")
	}
	if os.Geteuid() != 0 {
		return errors.New("real containers need root: run this as root, or with sudo -E")
	}
	if o.root, err = filepath.Abs(o.root); err != nil {
		return err
	}
	began := time.Now()
	lines := json.NewEncoder(out)
	// Each line has all figures so far: an interrupt loses only one turn of one side.
	o.report = func(done float64, measured series) error {
		result := figures(measured, measuredOf(measured, o.every))
		return lines.Encode(message{done, append(result, plain("lifecycle-took", float64(time.Since(began)), "ns"))})
	}
	o.every = o.parts
	measured, err := o.measure(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.progress, "lifecycle: %d rounds took %s\n", o.rounds, time.Since(began).Round(time.Second))
	if missing := unmeasured(measured, o.every); len(missing) > 0 {
		return fmt.Errorf("nothing was measured of %q", missing)
	}
	return o.report(1, measured)
}

// message is one line of the output: all figures measured so far.
type message struct {
	// Done is the share of the work that is done.
	Done    float64  `json:"done"`
	Figures []figure `json:"figures"`
}

// The parts; doc.go describes them.
const (
	partStart   = "start"
	partUpdate  = "update"
	partBurst   = "burst"
	partRestart = "restart"
	partDelete  = "delete"
	partIdle    = "idle"
	partMemory  = "memory"

	allParts = "start,update,burst,restart,delete,idle,memory"
)

// parts are the names of measured parts.
type parts []string

// parseParts parses a list separated by commas; an empty list is all parts.
func parseParts(list string) (parts, error) {
	if list == "" {
		list = allParts
	}
	chosen := parts(strings.Split(list, ","))
	for _, part := range chosen {
		if !slices.Contains(strings.Split(allParts, ","), part) {
			return nil, fmt.Errorf("no part is named %q; they are %s", part, allParts)
		}
	}
	return chosen, nil
}

// inRound returns the parts of a round. The first long rounds have all parts, the others no parts
// that take minutes. If long is 0, all rounds have all parts.
func (p parts) inRound(round, long int) parts {
	if long == 0 || round < long {
		return p
	}
	return slices.DeleteFunc(slices.Clone(p), func(part string) bool { return part == partIdle || part == partMemory })
}

// turnTimes are the approximate durations of a turn of each side on two cores, without and with the
// parts that take minutes. They are used to show the time that is left.
var turnTimes = map[string]struct{ short, long time.Duration }{
	ours:    {35 * time.Second, 195 * time.Second},
	kubelet: {65 * time.Second, 140 * time.Second},
	floor:   {40 * time.Second, 120 * time.Second},
}

// expected returns how long a turn of a side takes.
func expected(side string, p parts) time.Duration {
	if p.any(partIdle, partMemory) {
		return turnTimes[side].long
	}
	return turnTimes[side].short
}

// expected returns how long all rounds take.
func (o *options) expected() (all time.Duration) {
	for round := range o.rounds {
		all += o.expectedRound(round)
	}
	return all
}

func (o *options) expectedRound(round int) (all time.Duration) {
	for side := range turnTimes {
		all += expected(side, o.every.inRound(round, o.long))
	}
	return all
}

// fits reports whether a round is to be measured after so much time has passed: whether it ends in
// time at the pace of the rounds before.
func (o *options) fits(round int, passed time.Duration) bool {
	if round == 0 || o.within == 0 {
		return true
	}
	var over time.Duration
	for before := range round {
		over += o.expectedRound(before)
	}
	pace := float64(passed) / float64(over)
	return passed+time.Duration(pace*float64(o.expectedRound(round))) <= o.within
}

// any reports whether one of these parts is measured.
func (p parts) any(of ...string) bool {
	return slices.ContainsFunc(of, func(part string) bool { return slices.Contains(p, part) })
}
