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

	"github.com/wardlet/wardlet/test/conformance/instance"
	"github.com/wardlet/wardlet/test/conformance/recorder"
)

// bench is one run of the program.
type bench struct {
	root string
	// rounds is how often each agent has its turn.
	rounds int
	// starts is how many pods come one after the other, and then at once. few and many are how many
	// pods there are while the agent is measured at rest.
	starts, few, many int
	// settle is the least time that an agent has after a change. calm is how long it must then send
	// no requests about pods before a measurement begins. idle is how long processor time is
	// measured, rest how long requests are counted.
	settle, calm, idle, rest time.Duration
	// parts are the parts of a turn that are measured.
	parts       []string
	progress    io.Writer
	out         *json.Encoder
	measured    series
	steps, done int
	i           *instance.Instance
	admin       *instance.Admin
	rec         *recorder.Recorder
}

func main() { os.Exit(mainCode()) }

func mainCode() int {
	b := &bench{progress: os.Stderr, out: json.NewEncoder(os.Stdout), measured: series{}}
	flag.StringVar(&b.root, "root", ".", "the project's directory")
	flag.IntVar(&b.rounds, "rounds", 1, "how often each agent has its turn")
	flag.IntVar(&b.starts, "starts", 30, "how many pods come one after the other, and then at once")
	flag.IntVar(&b.few, "few", 60, "how many pods there are while processor time and memory are read")
	flag.IntVar(&b.many, "many", 100, "how many pods there are while requests are counted")
	flag.DurationVar(&b.settle, "settle", 45*time.Second, "how long an agent has after a change, at least")
	flag.DurationVar(&b.calm, "calm", 30*time.Second, "how long there is no request about pods before anything is measured at rest")
	flag.DurationVar(&b.idle, "idle", 2*time.Minute, "how long processor time is measured")
	flag.DurationVar(&b.rest, "rest", 10*time.Minute, "how long requests are counted: whole periods of the status of a node, 5 minutes")
	part := flag.String("part", "join,evict,empty,start,burst,liveness,init,readiness,objects,idle,rest,stats,probes", "measure these parts only")
	short := flag.Bool("short", false, "few pods and short times, to see whether it works; its figures mean nothing")
	flag.Parse()
	b.parts = strings.Split(*part, ",")
	if *short {
		b.starts, b.few, b.many, b.settle, b.calm, b.idle, b.rest = 3, 4, 6, 2*time.Second, 2*time.Second, 5*time.Second, 5*time.Second
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := b.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		return 1
	}
	return 0
}

// sides are the agents, with their names in figures.
var sides = []struct {
	name  string
	agent instance.Agent
}{{kubelet, instance.Kubelet}, {ours, instance.Wardlet}}

func (b *bench) run(ctx context.Context) (err error) {
	if os.Geteuid() != 0 {
		return errors.New("real containers need root: run this as root, or with sudo -E")
	}
	if b.root, err = filepath.Abs(b.root); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-cluster")
	if err != nil {
		return err
	}
	if b.i, err = instance.Start(ctx, dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.i.Down()) }()
	if b.admin, err = b.i.Admin(); err != nil {
		return err
	}
	if b.rec, err = recorder.Start(b.i); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.rec.Close()) }()
	b.i.Extra = []string{"NODE_VIA=" + b.rec.Kubeconfig}
	b.steps = b.rounds * (1 + len(sides)*len(b.parts))
	for round := range b.rounds {
		if slices.ContainsFunc(b.parts, func(part string) bool { return slices.Contains([]string{"start", "liveness", "init"}, part) }) {
			if err := b.floor(ctx); err != nil {
				return fmt.Errorf("floor: %w", err)
			}
		}
		for n := range sides {
			side := sides[(n+round)%len(sides)]
			if err := b.turn(ctx, side.name, side.agent, fmt.Sprintf("%s-%d", side.name, round)); err != nil {
				log := b.i.Log()
				return fmt.Errorf("%s: %w\n%s", side.name, err, log[max(0, len(log)-3000):])
			}
		}
	}
	return nil
}

// say prints a result.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.progress, "cluster: "+format+"\n", args...)
}

// step reports all figures so far.
func (b *bench) step() error {
	b.done++
	figures := b.measured.figures()
	if len(figures) == 0 {
		return nil
	}
	return b.out.Encode(message{float64(b.done) / float64(b.steps), figures})
}

// wait waits for a duration, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
