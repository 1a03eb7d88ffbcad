package instance

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
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Admin sends JSON requests to the API server as an administrator, for uses that kubectl is too
// slow for. It is safe for concurrent use.
type Admin struct {
	base string
	http *http.Client
}

// Admin makes a client.
func (i *Instance) Admin() (*Admin, error) {
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
	return &Admin{i.Env["APISERVER"], &http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: pool, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: true,
	}}}, nil
}

// send sends a request with a JSON body, and returns the body of a successful answer. A PATCH is a
// strategic merge patch.
func (a *Admin) send(ctx context.Context, method, path string, body any) (io.ReadCloser, error) {
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

// Do sends a request and ignores the body of the answer.
func (a *Admin) Do(ctx context.Context, method, path string, body any) error {
	answer, err := a.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer answer.Close()
	_, err = io.Copy(io.Discard, answer)
	return err
}

// Get reads an object.
func (a *Admin) Get(ctx context.Context, path string, into any) error {
	answer, err := a.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer answer.Close()
	return json.NewDecoder(answer).Decode(into)
}

// PodsPath returns the path of the pods of a namespace.
func PodsPath(namespace string) string { return "/api/v1/namespaces/" + namespace + "/pods" }

// Pods are the pods of a namespace as the API server shows them. It is safe for concurrent use.
type Pods struct {
	mu                   sync.Mutex
	changed              *sync.Cond
	newest, bound, ended map[string]*v1.Pod
	err                  error
}

// Watch follows the pods of a namespace until ctx is done. The namespace must be empty at first.
func (a *Admin) Watch(ctx context.Context, namespace string) (*Pods, error) {
	p := &Pods{newest: map[string]*v1.Pod{}, bound: map[string]*v1.Pod{}, ended: map[string]*v1.Pod{}}
	p.changed = sync.NewCond(&p.mu)
	body, err := a.send(ctx, http.MethodGet, PodsPath(namespace)+"?watch=1", nil)
	if err != nil {
		return nil, err
	}
	go func() {
		defer body.Close()
		for stream := json.NewDecoder(body); p.next(stream); {
		}
	}()
	return p, nil
}

// next reads one event of a watch, and reports whether there may be more.
func (p *Pods) next(stream *json.Decoder) bool {
	var event struct {
		Type   string
		Object v1.Pod
	}
	err := stream.Decode(&event)
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.changed.Broadcast()
	name := event.Object.Name
	switch {
	case err != nil:
		p.err = err
	case event.Type == "DELETED":
		p.ended[name] = &event.Object
	default:
		p.newest[name] = &event.Object
		if p.bound[name] == nil && event.Object.Spec.NodeName != "" {
			p.bound[name] = &event.Object
		}
	}
	return err == nil
}

// until returns when a condition holds, or ctx is done. The condition is called with the lock held.
func (p *Pods) until(ctx context.Context, holds func() bool) error {
	defer context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.changed.Broadcast()
	})()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !holds() {
		if err := errors.Join(ctx.Err(), p.err); err != nil {
			return err
		}
		p.changed.Wait()
	}
	return nil
}

// Until waits until the status of a pod fulfills is, or ctx is done. The error then contains the
// status.
func (p *Pods) Until(ctx context.Context, name string, is func(*v1.PodStatus) bool) error {
	var last *v1.PodStatus
	err := p.until(ctx, func() bool {
		if p.newest[name] == nil {
			return false
		}
		last = &p.newest[name].Status
		return is(last)
	})
	if err != nil {
		text, _ := json.Marshal(last)
		return fmt.Errorf("pod %s: %w: %s", name, err, text)
	}
	return nil
}

// UntilGone waits until the API server has deleted a pod.
func (p *Pods) UntilGone(ctx context.Context, name string) error {
	if err := p.until(ctx, func() bool { return p.ended[name] != nil }); err != nil {
		return fmt.Errorf("pod %s does not go: %w", name, err)
	}
	return nil
}

// Bound returns the pods as they were when they were bound to the node.
func (p *Pods) Bound() map[string]*v1.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.bound)
}

// Ended returns the last state of the pods that are gone.
func (p *Pods) Ended() map[string]*v1.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.ended)
}

// NothingLeft waits until the runtime has no container of any pod.
func (i *Instance) NothingLeft(ctx context.Context) error {
	for {
		left, err := i.Ctr(ctx, "containers", "list", "--quiet")
		if err == nil && len(bytes.TrimSpace([]byte(left))) == 0 {
			return nil
		}
		if !sleep(ctx) {
			return fmt.Errorf("the runtime has still %q: %w", left, ctx.Err())
		}
	}
}

// MakeNamespace makes a namespace, and waits until pods can be made in it.
func (i *Instance) MakeNamespace(ctx context.Context, name string) error {
	if _, err := i.Kubectl(ctx, "create", "namespace", name); err != nil {
		return err
	}
	for {
		_, err := i.Kubectl(ctx, "-n", name, "get", "serviceaccount", "default")
		if err == nil {
			return nil
		}
		if !sleep(ctx) {
			return err
		}
	}
}

// sleep waits for a moment, and reports whether ctx is not done.
func sleep(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(500 * time.Millisecond):
		return true
	}
}
