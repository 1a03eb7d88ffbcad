package policy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
	"github.com/wardlet/wardlet/core/policy/review"
	"github.com/wardlet/wardlet/core/state"
)

// running is a node with running pods.
type running struct {
	mu   sync.Mutex
	pods map[types.UID]review.RunningPod
	// shown has the message of each pod. told has the events. evicted has the evictions with
	// their times.
	shown   map[string]string
	told    []string
	evicted []evicted
	fuel    int64
	// refuses is the error of every eviction; nil to evict.
	refuses error
}

type evicted struct {
	name string
	at   time.Time
	by   api.Verdict
}

func newRunning(pods ...review.RunningPod) *running {
	n := &running{pods: map[types.UID]review.RunningPod{}, shown: map[string]string{}}
	for _, p := range pods {
		n.pods[p.Pod.UID] = p
	}
	return n
}

// somePods returns n pods that no policy has judged.
func somePods(n int) (pods []review.RunningPod) {
	for i := range n {
		pods = append(pods, runs(fmt.Sprintf("p%02d", i)))
	}
	return pods
}

func runs(name string, change ...func(*v1.Pod)) review.RunningPod {
	return review.RunningPod{Pod: policytest.SomePod(name, change...), Origin: api.Origin{Source: "static", Document: name + ".yaml#0"}}
}

func (n *running) Pods() []review.RunningPod {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Values(n.pods))
}

func (n *running) Violates(p *v1.Pod, v review.Violation) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.shown[p.Name] = v.Message; v.Message == "" {
		delete(n.shown, p.Name)
	}
}

func (n *running) Tell(p *v1.Pod, reason, message string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = append(n.told, p.Name+" "+reason+" "+message)
}

func (n *running) Judged(opinions []api.Opinion) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fuel += fuelOf(opinions)
}

func (n *running) Evict(_ context.Context, p *v1.Pod, v api.Verdict) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.refuses != nil {
		return n.refuses
	}
	n.evicted = append(n.evicted, evicted{p.Name, time.Now(), v})
	delete(n.pods, p.UID)
	return nil
}

// gone returns the names of the evicted pods.
func (n *running) gone() (names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, e := range n.evicted {
		names = append(names, e.name)
	}
	return names
}

func (n *running) shows(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.shown[name]
}

// counts stores evictions in memory.
type counts struct {
	mu   sync.Mutex
	kept map[string]state.Evictions
	// fails is the error of every store. unread is the error of every load.
	fails, unread error
}

func newCounts() *counts { return &counts{kept: map[string]state.Evictions{}} }

func (c *counts) Load(tenant string) (state.Evictions, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.kept[tenant]
	e.Tenant, e.Policies = tenant, slices.Clone(e.Policies)
	return e, c.unread
}

func (c *counts) Store(e *state.Evictions) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fails != nil {
		return c.fails
	}
	c.kept[e.Tenant] = state.Evictions{Tenant: e.Tenant, Policies: slices.Clone(e.Policies)}
	return nil
}

// reviewing returns an engine that reviews the running pods of n.
func reviewing(t *testing.T, d policytest.Tree, s *policytest.Scripts, n *running, change ...func(*Config)) *Engine {
	t.Helper()
	p, _ := listed(t, d, s, append([]func(*Config){func(c *Config) { c.Running = n }}, change...)...)
	return p
}

func evictionsIn(c *counts) func(*Config) { return func(cfg *Config) { cfg.Evictions = c } }

func exempting(names ...string) func(*Config) { return func(c *Config) { c.Exempt = names } }
