package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/test/harness"
)

// options are the settings of a run.
type options struct {
	form form
	// shapes are the pods.
	shapes []*shape
	seed   uint64
	// wardlet is the program, policies the directory that `make plugins` wrote.
	wardlet, policies string
	// logs is where logs are kept after a failure.
	logs string
	// out receives each event at once, report the explanations of failures.
	out, report io.Writer
}

// run is one run of a script.
type run struct {
	options
	node     *node
	ledger   *ledger
	witness  *witness
	findings *findings
	timeline *timeline
	// slow is by which factor the machine is slower than assumed, at least 1.
	slow float64
	// settledAfter is, by round, how long after the end of the disturbances everything was as it
	// should.
	settledAfter []time.Duration
	// calls are the calls to containerd that are disturbances themselves.
	calls sync.WaitGroup
}

const (
	// compiling is how long an agent may take to compile its policies; with the race detector it
	// takes ten times as long. firstStart is how long it may then take until all pods run for the
	// first time. answering is how long an agent may take to answer.
	compiling  = 10 * time.Minute
	firstStart = 4 * time.Minute
	answering  = 30 * time.Second
	// ordinary is how long the first start of a pod among others takes at most on an otherwise idle
	// machine. If it takes longer, all waits are extended by the same factor.
	ordinary = 120 * time.Millisecond
	// emptying is how long it may take until nothing is left.
	emptying = 30 * time.Second
	// lateness is how long the run waits further for what was missing in time, to find out whether it
	// ever comes.
	lateness = 60 * time.Second
)

// patience is how long containerd may take to answer while nothing is disturbed.
const patience = 30 * time.Second

// errBroken means that a rule was broken. The report says which.
var errBroken = errors.New("a rule was broken")

// play runs everything. It returns errBroken if a rule was broken; other errors are failures of the
// test itself.
func play(ctx context.Context, o *options) (err error) {
	r := &run{options: *o, findings: &findings{}, timeline: &timeline{out: o.out}, slow: 1}
	r.timeline.add("seed %d, %d rounds of %s", o.seed, o.form.rounds, o.form.disturb)
	if r.node, err = newNode(ctx, o.wardlet, o.policies); err != nil {
		return err
	}
	defer func() {
		if failed := r.node.close(context.WithoutCancel(ctx)); failed != nil {
			err = errors.Join(err, fmt.Errorf("take it all away: %w", failed))
		}
	}()
	r.ledger = newLedger(r.shapes, time.Now())
	r.witness = newWitness(r.node.Runtime.CRI, r.node.Cgroup(), r.ledger, r.findings)
	err = r.watched(ctx, r.whole)
	r.node.readLogs(r.findings)
	if broken := r.findings.all(); len(broken) > 0 {
		r.explain(broken)
		return errors.Join(errBroken, err)
	}
	if err != nil {
		r.keep()
		return err
	}
	r.timeline.add("all as it should, over %d looks at the runtime; settled at most %.1f s after quiet", r.witness.seen(), slices.Max(r.settledAfter).Seconds())
	return nil
}

// watched calls do while the witness runs.
func (r *run) watched(ctx context.Context, do func(context.Context) error) error {
	watching, stop := context.WithCancel(ctx)
	var witness sync.WaitGroup
	witness.Go(func() { r.witness.run(watching) })
	err := do(ctx)
	r.calls.Wait()
	stop()
	witness.Wait()
	return err
}

func (r *run) whole(ctx context.Context) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	for number, steps := range newScript(r.form, r.seed, r.shapes) {
		r.timeline.add("round %d of %d", number+1, r.form.rounds)
		if err := r.disturb(ctx, steps); err != nil {
			return err
		}
		if err := r.settle(ctx); err != nil {
			return err
		}
	}
	return r.end(ctx)
}

// begin starts all pods for the first time. It writes their manifests only after the agent has
// compiled its policies.
func (r *run) begin(ctx context.Context) error {
	if err := r.node.Start(); err != nil {
		return err
	}
	started := time.Now()
	if err := r.compiled(ctx); err != nil {
		return err
	}
	r.timeline.add("policies are compiled after %.1f s", time.Since(started).Seconds())
	began := time.Now()
	for _, name := range r.ledger.order {
		w := r.ledger.wish(name)
		e := w.newest()
		if err := harness.Replace(r.node.Manifest(w.file), []byte(w.shape.manifest(name, e.version, e.image))); err != nil {
			return err
		}
	}
	differences, err := r.until(ctx, firstStart)
	if err != nil {
		return err
	}
	r.findings.add(differences...)
	if len(differences) > 0 {
		return errors.New("not all pods came to run before anything was disturbed")
	}
	took := time.Since(began)
	r.slow = max(1, took.Seconds()/ordinary.Seconds()/float64(len(r.ledger.order)))
	r.timeline.add("%d pods run after %.1f s, so all must be as it should %.1f s after quiet", len(r.ledger.order), took.Seconds(), r.patient(r.form.settle).Seconds())
	return nil
}

// compiled waits until the agent's policies are in force.
func (r *run) compiled(ctx context.Context) error {
	for end := time.Now().Add(compiling); ; {
		var sets []api.PolicySet
		err := r.node.API.Get(ctx, "/v1/policies", &sets)
		if err == nil && len(sets) == 1 && sets[0].Ready {
			return nil
		}
		if crashed := r.node.Process.Crashed(); crashed != nil {
			return crashed
		}
		if time.Now().After(end) {
			return errors.Join(fmt.Errorf("the agent has not compiled its policies in %s: %+v", compiling, sets), err)
		}
		if err := pause(ctx, polling); err != nil {
			return err
		}
	}
}

// patient returns d, extended by the slowness of this machine.
func (r *run) patient(d time.Duration) time.Duration { return time.Duration(float64(d) * r.slow) }

// disturb performs the steps of a round, each at its time or as soon as the steps before are done.
func (r *run) disturb(ctx context.Context, steps []step) error {
	began := time.Now()
	for i := range steps {
		s := &steps[i]
		if err := pause(ctx, time.Until(began.Add(s.At))); err != nil {
			return err
		}
		at := time.Now()
		detail, err := r.perform(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		if detail != "" {
			detail = ": " + detail
		}
		r.timeline.addAt(at, "%s%s", s, detail)
	}
	return nil
}

// until compares until nothing differs or the time is up, and returns the last differences.
func (r *run) until(ctx context.Context, most time.Duration) ([]finding, error) {
	for end := time.Now().Add(most); ; {
		differences, err := r.compare(ctx)
		if err != nil || len(differences) == 0 || time.Now().After(end) {
			return differences, err
		}
		if err := pause(ctx, polling); err != nil {
			return nil, err
		}
	}
}

// compare compares what runs with what is asked for. If the agent does not answer, that is a
// finding.
func (r *run) compare(ctx context.Context) ([]finding, error) {
	v, err := look(ctx, r.node.Runtime.CRI, patience)
	if err != nil {
		return nil, err
	}
	var list v1.PodList
	if err := r.node.API.Get(ctx, "/v1/pods", &list); err != nil {
		if crashed := r.node.Process.Crashed(); crashed != nil {
			err = crashed
		}
		return []finding{found(time.Now(), "", "%v", err)}, ctx.Err()
	}
	return judge(r.ledger, &v, list.Items), nil
}

// readLogs finds messages in the agents' logs that must not occur.
func (n *node) readLogs(f *findings) {
	log, err := os.ReadFile(n.LogFile())
	if err != nil {
		return // no agent was started
	}
	for _, words := range []string{"WARNING: DATA RACE", "a pod that is shared was changed", "panic: ", "fatal error: "} {
		if strings.Contains(string(log), words) {
			f.add(found(time.Now(), "", "the agent's log says %q", words))
		}
	}
}

func pause(ctx context.Context, wait time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(max(wait, 0)):
		return nil
	}
}
