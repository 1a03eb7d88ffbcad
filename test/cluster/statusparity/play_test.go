//go:build e2e

package statusparity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/conformance/instance"
	"github.com/wardlet/wardlet/test/conformance/recorder"
)

// atOnce is how many pods exist at a time.
const atOnce = 10

// patience is how long a life may take.
const patience = 3 * time.Minute

// play is what an agent wrote about lives.
type play struct {
	Agent     string
	Namespace string
	NodeIP    string
	Requests  []recorder.Request
	// First has the pods when the agent first saw them, and Gone has their last state, by name.
	First, Gone map[string]*v1.Pod
}

// playAll plays lives with an agent as the node, and waits until nothing of them is left.
func playAll(ctx context.Context, i *instance.Instance, rec *recorder.Recorder, agent instance.Agent, name string, lives []*life) (*play, error) {
	admin, err := i.Admin()
	if err != nil {
		return nil, err
	}
	p := &play{Agent: name, Namespace: "lives-" + name, NodeIP: i.Env["NODE_IP"]}
	if err := i.MakeNamespace(ctx, p.Namespace); err != nil {
		return nil, err
	}
	if err := i.StartNode(ctx, agent); err != nil {
		return nil, err
	}
	rec.Requests()
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := admin.Watch(within, p.Namespace)
	if err != nil {
		return nil, err
	}
	var all sync.WaitGroup
	var failed error
	ended := make([]error, len(lives))
	slots := make(chan struct{}, atOnce)
	for n, l := range lives {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if err := l.play(ctx, admin, w, rec, p.Namespace); err != nil {
				ended[n] = fmt.Errorf("%s: %s: %w", name, l, err)
			}
		})
	}
	all.Wait()
	// A kubelet removes containers that have exited within a minute.
	waiting, stop := context.WithTimeout(ctx, patience)
	defer stop()
	if err := i.NothingLeft(waiting); err != nil {
		failed = fmt.Errorf("%s: %w", name, err)
	}
	for _, q := range rec.Requests() {
		if q.Method == http.MethodPatch {
			p.Requests = append(p.Requests, q)
		}
	}
	p.First, p.Gone = w.Bound(), w.Ended()
	if err := i.StopNode(ctx); err != nil {
		failed = errors.Join(failed, err)
	}
	_, err = i.Kubectl(ctx, "delete", "node", i.Env["NODE_NAME"])
	return p, errors.Join(errors.Join(ended...), failed, err)
}

// play plays one life.
func (l *life) play(ctx context.Context, admin *instance.Admin, w *instance.Pods, rec *recorder.Recorder, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pods, name := instance.PodsPath(namespace), l.pod.Name
	if err := admin.Do(ctx, http.MethodPost, pods, l.pod); err != nil {
		return err
	}
	if l.opened {
		if err := w.Until(ctx, name, ready("ReadinessGatesNotReady")); err != nil {
			return fmt.Errorf("it does not wait for its gate: %w", err)
		}
		patch := map[string]any{"status": map[string]any{"conditions": []map[string]any{{"type": gate, "status": "True"}}}}
		if err := admin.Do(ctx, http.MethodPatch, pods+"/"+name+"/status", patch); err != nil {
			return err
		}
		text, err := json.Marshal(patch)
		if err != nil {
			return err
		}
		rec.Add(recorder.Request{Method: http.MethodPatch, Path: pods + "/" + name + "/status", Query: byUs, Code: http.StatusOK, Body: text})
		if err := w.Until(ctx, name, ready("")); err != nil {
			return fmt.Errorf("it is not ready: %w", err)
		}
	}
	if err := w.Until(ctx, name, l.reached); err != nil {
		return fmt.Errorf("it does not come to its end: %w", err)
	}
	if l.debug {
		patch := map[string]any{"spec": map[string]any{"ephemeralContainers": []v1.EphemeralContainer{l.debugContainer()}}}
		if err := admin.Do(ctx, http.MethodPatch, pods+"/"+name+"/ephemeralcontainers", patch); err != nil {
			return err
		}
		if err := w.Until(ctx, name, l.debugged); err != nil {
			return fmt.Errorf("its ephemeral container does not come to its end: %w", err)
		}
	}
	if !sleep(ctx, l.after) {
		return ctx.Err()
	}
	options := map[string]any{"apiVersion": "v1", "kind": "DeleteOptions"}
	if l.grace != nil {
		options["gracePeriodSeconds"] = *l.grace
	}
	if err := admin.Do(ctx, http.MethodDelete, pods+"/"+name, options); err != nil {
		return err
	}
	return w.UntilGone(ctx, name)
}

// byUs marks requests of the test itself among those of an agent.
const byUs = "test"

// sleep reports whether the time passed before ctx was done.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
