package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/test/conformance/instance"
	"github.com/wardlet/wardlet/test/conformance/recorder"
	"github.com/wardlet/wardlet/test/harness"
)

const (
	// patience is how long a pod may take to start or to be removed, clearing how long all pods
	// together may take to leave the runtime.
	patience, clearing = 3 * time.Minute, 3 * time.Minute
	// busy is how long an agent may still send requests about pods at rest.
	busy = 10 * time.Minute
	// ticks is the number of units of processor time in /proc per second.
	ticks = 100
)

// turn measures one agent.
func (b *bench) turn(ctx context.Context, side string, agent instance.Agent, namespace string) (err error) {
	if err := b.i.MakeNamespace(ctx, namespace); err != nil {
		return err
	}
	if err := b.i.StartNode(ctx, agent); err != nil {
		return err
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	pods, err := b.admin.Watch(within, namespace)
	if err != nil {
		return err
	}
	t := &turn{bench: b, side: side, agent: agent, namespace: namespace, pods: pods}
	for _, part := range b.parts {
		measure := t.part(part)
		if measure == nil {
			return fmt.Errorf("no part is named %q", part)
		}
		if err := measure(ctx); err != nil {
			return err
		}
		if err := b.step(); err != nil {
			return err
		}
	}
	for n := range t.there {
		if err := t.end(ctx, crowd(n)); err != nil {
			return err
		}
	}
	waiting, stop := context.WithTimeout(ctx, clearing)
	defer stop()
	for n := range t.there {
		if err := pods.UntilGone(waiting, crowd(n)); err != nil {
			return err
		}
	}
	err = errors.Join(b.i.NothingLeft(waiting), b.i.StopNode(ctx))
	_, failed := b.i.Kubectl(ctx, "delete", "node", b.i.Env["NODE_NAME"])
	return errors.Join(err, failed)
}

// turn is the turn of a running agent.
type turn struct {
	*bench
	side, namespace string
	agent           instance.Agent
	pods            *instance.Pods
	// there is the number of pods of the crowd.
	there int
}

// empty measures the memory of an agent without pods.
func (t *turn) empty(ctx context.Context) error {
	if err := wait(ctx, t.settle); err != nil {
		return err
	}
	bytes, err := t.memory()
	if err != nil {
		return err
	}
	t.measured.add(alone, t.side, bytes)
	t.say("%s without pods has %.1f MiB", t.side, bytes/(1<<20))
	return nil
}

// starting measures pods that start and are removed one after the other.
func (t *turn) starting(ctx context.Context) error {
	var all []float64
	for n := range t.starts {
		name := "single-" + strconv.Itoa(n)
		began := time.Now()
		if err := t.create(ctx, name); err != nil {
			return err
		}
		if err := t.runs(ctx, name); err != nil {
			return err
		}
		all = append(all, float64(time.Since(began)))
		if err := t.remove(ctx, name); err != nil {
			return err
		}
		// The rest of the pod's removal must not delay the next pod.
		if err := wait(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
	t.measured.add(starting, t.side, median(all))
	t.say("%s: a pod runs after %s (from %s to %s)", t.side, time.Duration(median(all)).Round(time.Millisecond),
		time.Duration(slices.Min(all)).Round(time.Millisecond), time.Duration(slices.Max(all)).Round(time.Millisecond))
	return nil
}

// burst measures pods that are all created at once, until the last of them runs.
func (t *turn) burst(ctx context.Context) error {
	began := time.Now()
	for n := range t.starts {
		if err := t.create(ctx, "burst-"+strconv.Itoa(n)); err != nil {
			return err
		}
	}
	for n := range t.starts {
		if err := t.runs(ctx, "burst-"+strconv.Itoa(n)); err != nil {
			return err
		}
	}
	took := time.Since(began)
	t.measured.add(bursting, t.side, float64(took))
	t.say("%s: %d pods at once run after %s", t.side, t.starts, took.Round(time.Millisecond))
	for n := range t.starts {
		if err := t.remove(ctx, "burst-"+strconv.Itoa(n)); err != nil {
			return err
		}
	}
	return nil
}

// idle measures processor time and memory with few pods at rest.
func (t *turn) idle(ctx context.Context) error {
	if err := t.fill(ctx, t.few); err != nil {
		return err
	}
	perSecond, err := t.perSecond(ctx)
	if err != nil {
		return err
	}
	bytes, err := t.memory()
	if err != nil {
		return err
	}
	t.measured.add(cpu, t.side, perSecond)
	t.measured.add(resident, t.side, bytes)
	t.say("%s with %d pods takes %.1f ms of processor time a second, and has %.1f MiB", t.side, t.few, perSecond/1e6, bytes/(1<<20))
	return nil
}

// atRest counts requests with many pods at rest.
func (t *turn) atRest(ctx context.Context) error {
	if err := t.fill(ctx, t.many); err != nil {
		return err
	}
	t.rec.Requests()
	before := t.rec.Total()
	if err := wait(ctx, t.rest); err != nil {
		return err
	}
	total := t.rec.Total().Sub(before)
	perMinute := func(n int64) float64 { return float64(n) / t.rest.Minutes() }
	t.measured.add(requests, t.side, perMinute(total.Requests))
	t.measured.add(traffic, t.side, perMinute(total.BytesIn+total.BytesOut))
	t.say("%s with %d pods makes %.1f requests a minute, of %.1f KiB sent and %.1f KiB received", t.side, t.many,
		perMinute(total.Requests), perMinute(total.BytesIn)/1024, perMinute(total.BytesOut)/1024)
	t.explain(t.rec.Requests())
	return nil
}

// explain prints which requests were sent.
func (t *turn) explain(all []recorder.Request) {
	count := map[string]int{}
	size := map[string]int64{}
	for i := range all {
		q := &all[i]
		path := q.Path
		if strings.Contains(path, "/namespaces/"+t.namespace+"/pods/") {
			path = "a pod"
		}
		count[q.Method+" "+path]++
		size[q.Method+" "+path] += q.BytesIn + q.BytesOut
	}
	for _, what := range slices.Sorted(maps.Keys(count)) {
		t.say("  %s: %d times, %d bytes of bodies", what, count[what], size[what])
	}
}

// fill creates pods until there are `to`, and waits until they run and the agent has settled.
func (t *turn) fill(ctx context.Context, to int) error {
	from := t.there
	for ; t.there < to; t.there++ {
		n := t.there
		if err := t.create(ctx, crowd(n)); err != nil {
			return err
		}
	}
	for n := from; n < to; n++ {
		if err := t.runs(ctx, crowd(n)); err != nil {
			return err
		}
	}
	t.say("%s has %d pods", t.side, to)
	return t.settles(ctx)
}

// settles waits until an agent has reported everything about new pods. A kubelet updates each pod
// again about a minute later, and Wardlet sends events one by one.
func (t *turn) settles(ctx context.Context) error {
	began := time.Now()
	if err := wait(ctx, t.settle); err != nil {
		return err
	}
	for end := time.Now().Add(busy); time.Now().Before(end); {
		t.rec.Requests()
		if err := wait(ctx, t.calm); err != nil {
			return err
		}
		if !slices.ContainsFunc(t.rec.Requests(), func(q recorder.Request) bool { return strings.Contains(q.Path, t.namespace) }) {
			t.say("%s has settled after %s", t.side, time.Since(began).Round(time.Second))
			return nil
		}
	}
	return fmt.Errorf("after %s there are still requests about pods", busy)
}

func crowd(n int) string { return fmt.Sprintf("crowd-%03d", n) }

func (t *turn) create(ctx context.Context, name string) error {
	image, err := t.pause()
	if err != nil {
		return err
	}
	return t.admin.Do(ctx, http.MethodPost, instance.PodsPath(t.namespace), &v1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.PodSpec{
			AutomountServiceAccountToken:  new(false),
			TerminationGracePeriodSeconds: new(int64(1)),
			Containers:                    []v1.Container{{Name: "main", Image: image}},
		},
	})
}

func (t *turn) runs(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return t.pods.Until(ctx, name, func(st *v1.PodStatus) bool { return st.Phase == v1.PodRunning })
}

// end deletes a pod in the API.
func (t *turn) end(ctx context.Context, name string) error {
	return t.admin.Do(ctx, http.MethodDelete, instance.PodsPath(t.namespace)+"/"+name, map[string]any{"apiVersion": "v1", "kind": "DeleteOptions"})
}

func (t *turn) remove(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := t.end(ctx, name); err != nil {
		return err
	}
	return t.pods.UntilGone(ctx, name)
}

// memory returns the resident memory of the agent in bytes.
func (t *turn) memory() (float64, error) {
	text, err := t.proc("status")
	if err != nil {
		return 0, err
	}
	bytes, err := harness.Kilobytes(text, "VmRSS")
	return float64(bytes), err
}

// perSecond measures the agent's processor time per second, in nanoseconds.
func (t *turn) perSecond(ctx context.Context) (float64, error) {
	before, err := t.processorTime()
	if err != nil {
		return 0, err
	}
	if err := wait(ctx, t.bench.idle); err != nil {
		return 0, err
	}
	after, err := t.processorTime()
	return float64(after-before) / t.bench.idle.Seconds(), err
}

// processorTime returns the processor time that the agent has used.
func (t *turn) processorTime() (time.Duration, error) {
	text, err := t.proc("stat")
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(text, ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0, fmt.Errorf("a stat of %d fields: %q", len(fields), text)
	}
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[12])
	return time.Duration(user+system) * time.Second / ticks, err
}

func (t *turn) proc(name string) (string, error) {
	pid, err := t.i.NodePID()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	return string(text), err
}
