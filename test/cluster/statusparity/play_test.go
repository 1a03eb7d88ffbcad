//go:build e2e

package statusparity

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/test/conformance/instance"
	"github.com/wardlet/wardlet/test/conformance/recorder"
)

// atOnce is how many pods there are at a time.
const atOnce = 30

// patience is how long a life may take.
const patience = 90 * time.Second

// administrator asks the API server in JSON.
type administrator struct {
	base string
	http *http.Client
}

func newAdministrator(i *instance.Instance) (*administrator, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(i.Dir, "k8s", "admin.crt"), filepath.Join(i.Dir, "k8s", "admin.key"))
	if err != nil {
		return nil, err
	}
	authority, err := os.ReadFile(i.Env["CLIENT_CA"])
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	return &administrator{i.Env["APISERVER"], &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: true,
	}}}, nil
}

// send sends a request, and returns the answer of one that succeeds.
func (a *administrator) send(ctx context.Context, method, path string, body any) (io.ReadCloser, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	q, err := http.NewRequestWithContext(ctx, method, a.base+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		q.Header.Set("Content-Type", "application/strategic-merge-patch+json")
	}
	answer, err := a.http.Do(q)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		defer answer.Body.Close()
		said, _ := io.ReadAll(answer.Body)
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, said)
	}
	return answer.Body, nil
}

// do is send of which the answer does not matter.
func (a *administrator) do(ctx context.Context, method, path string, body any) error {
	answer, err := a.send(ctx, method, path, body)
	if err == nil {
		answer.Close()
	}
	return err
}

// witness knows the pods of a namespace as the API server shows them.
type witness struct {
	mu      sync.Mutex
	changed *sync.Cond
	// pods has the newest of each, gone those that are deleted as they were last, first those that were bound just then.
	pods, gone, first map[string]*v1.Pod
	err               error
}

// watch follows the pods of a namespace until ctx is done.
func (a *administrator) watch(ctx context.Context, namespace string) (*witness, error) {
	w := &witness{pods: map[string]*v1.Pod{}, gone: map[string]*v1.Pod{}, first: map[string]*v1.Pod{}}
	w.changed = sync.NewCond(&w.mu)
	body, err := a.send(ctx, http.MethodGet, "/api/v1/namespaces/"+namespace+"/pods?watch=1", nil)
	if err != nil {
		return nil, err
	}
	go func() {
		defer body.Close()
		for stream := json.NewDecoder(body); ; {
			var event struct {
				Type   string
				Object v1.Pod
			}
			err := stream.Decode(&event)
			w.mu.Lock()
			name := event.Object.Name
			switch {
			case err != nil:
				w.err = err
			case event.Type == "DELETED":
				w.gone[name] = &event.Object
			default:
				w.pods[name] = &event.Object
				if w.first[name] == nil && event.Object.Spec.NodeName != "" {
					w.first[name] = &event.Object
				}
			}
			w.mu.Unlock()
			w.changed.Broadcast()
			if err != nil {
				return
			}
		}
	}()
	return w, nil
}

// until returns when a condition holds, or ctx is done.
func (w *witness) until(ctx context.Context, holds func() bool) error {
	defer context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.changed.Broadcast()
	})()
	w.mu.Lock()
	defer w.mu.Unlock()
	for !holds() {
		if err := errors.Join(ctx.Err(), w.err); err != nil {
			return err
		}
		w.changed.Wait()
	}
	return nil
}

// play is what an agent wrote of lives.
type play struct {
	Agent     string
	Namespace string
	NodeIP    string
	Requests  []recorder.Request
	// First has the pods as the agent found them, Gone as they were last, by name.
	First, Gone map[string]*v1.Pod
}

// playAll plays lives with an agent as the node, and leaves nothing of them.
func playAll(ctx context.Context, i *instance.Instance, rec *recorder.Recorder, agent instance.Agent, name string, lives []*life) (*play, error) {
	admin, err := newAdministrator(i)
	if err != nil {
		return nil, err
	}
	p := &play{Agent: name, Namespace: "lives-" + name, NodeIP: i.Env["NODE_IP"]}
	if _, err := i.Kubectl(ctx, "create", "namespace", p.Namespace); err != nil {
		return nil, err
	}
	for {
		if _, err := i.Kubectl(ctx, "-n", p.Namespace, "get", "serviceaccount", "default"); err == nil {
			break
		}
		if !sleep(ctx, 200*time.Millisecond) {
			return nil, ctx.Err()
		}
	}
	if err := i.StartNode(ctx, agent); err != nil {
		return nil, err
	}
	rec.Requests()
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := admin.watch(within, p.Namespace)
	if err != nil {
		return nil, err
	}
	var all sync.WaitGroup
	failures := make([]error, len(lives))
	slots := make(chan struct{}, atOnce)
	for n, l := range lives {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if err := l.play(ctx, admin, w, rec, p.Namespace); err != nil {
				failures[n] = fmt.Errorf("%s: %s: %w", name, l, err)
			}
		})
	}
	all.Wait()
	if err := nothingLeft(ctx, i); err != nil {
		failures = append(failures, fmt.Errorf("%s: %w", name, err))
	}
	for _, q := range rec.Requests() {
		if q.Method == http.MethodPatch {
			p.Requests = append(p.Requests, q)
		}
	}
	w.mu.Lock()
	p.First, p.Gone = maps.Clone(w.first), maps.Clone(w.gone)
	w.mu.Unlock()
	if err := i.StopNode(ctx); err != nil {
		failures = append(failures, err)
	}
	_, err = i.Kubectl(ctx, "delete", "node", i.Env["NODE_NAME"])
	return p, errors.Join(append(failures, err)...)
}

// play plays one life.
func (l *life) play(ctx context.Context, admin *administrator, w *witness, rec *recorder.Recorder, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pods := "/api/v1/namespaces/" + namespace + "/pods"
	name := l.pod.Name
	if err := admin.do(ctx, http.MethodPost, pods, l.pod); err != nil {
		return err
	}
	status := func(is func(*v1.PodStatus) bool) error {
		return w.until(ctx, func() bool { return w.pods[name] != nil && is(&w.pods[name].Status) })
	}
	if l.opened {
		if err := status(ready("ReadinessGatesNotReady")); err != nil {
			return fmt.Errorf("it does not wait for its gate: %w", err)
		}
		patch := map[string]any{"status": map[string]any{"conditions": []map[string]any{{"type": gate, "status": "True"}}}}
		if err := admin.do(ctx, http.MethodPatch, pods+"/"+name+"/status", patch); err != nil {
			return err
		}
		text, err := json.Marshal(patch)
		if err != nil {
			return err
		}
		rec.Add(recorder.Request{Method: http.MethodPatch, Path: pods + "/" + name + "/status", Query: byUs, Code: http.StatusOK, Body: text})
		if err := status(ready("")); err != nil {
			return fmt.Errorf("it is not ready: %w", err)
		}
	}
	if err := status(l.reached); err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		text, _ := json.Marshal(w.pods[name].Status)
		return fmt.Errorf("it does not come to its end: %w: %s", err, text)
	}
	if !sleep(ctx, l.after) {
		return ctx.Err()
	}
	options := map[string]any{"apiVersion": "v1", "kind": "DeleteOptions"}
	if l.grace != nil {
		options["gracePeriodSeconds"] = *l.grace
	}
	if err := admin.do(ctx, http.MethodDelete, pods+"/"+name, options); err != nil {
		return err
	}
	if err := w.until(ctx, func() bool { return w.gone[name] != nil }); err != nil {
		return fmt.Errorf("it does not go: %w", err)
	}
	return nil
}

// byUs marks what the test wrote, beside what an agent did.
const byUs = "test"

// nothingLeft waits until the runtime has nothing of a pod.
func nothingLeft(ctx context.Context, i *instance.Instance) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		left, err := i.Ctr(ctx, "containers", "list", "--quiet")
		if err == nil && strings.TrimSpace(left) == "" {
			return nil
		}
		if !sleep(ctx, time.Second) {
			return fmt.Errorf("the runtime has still %q: %w", left, err)
		}
	}
}

// sleep reports whether the time passed before ctx was done.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
