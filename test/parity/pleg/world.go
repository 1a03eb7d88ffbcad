package pleg

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/status"
)

var (
	errInspect = errors.New("the pod cannot be inspected")
	errList    = errors.New("pods cannot be listed")
)

// world is the runtime that both sides see.
type world struct {
	mu       sync.Mutex
	pods     map[types.UID]*worldPod
	listFail bool
}

// worldPod is one pod of the world. New parts come first.
type worldPod struct {
	containers, sandboxes []part
	fails                 bool
}

// part is a container or a sandbox.
type part struct {
	id    string
	state status.ContainerState
}

func newWorld() *world { return &world{pods: map[types.UID]*worldPod{}} }

// uids returns the UIDs of all pods, in order.
func (w *world) uids() []types.UID { return slices.Sorted(maps.Keys(w.pods)) }

func (w *world) has(uid types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pods[uid] != nil
}

// seen describes a side's state of a pod as text: its containers, sandboxes and addresses. Neither
// side distinguishes a created container from a container in an unknown state, or inspects a pod
// because of it.
func seen(containers, sandboxes []part, addresses []string) string {
	var text []string
	for _, p := range slices.Concat(containers, sandboxes) {
		if p.state == status.StateCreated {
			p.state = status.StateUnknown
		}
		text = append(text, p.id+"="+string(p.state))
	}
	return strings.Join(text, " ") + " at " + strings.Join(addresses, ",")
}

// addresses returns the addresses of the newest sandbox that is ready.
func (p *worldPod) addresses() []string {
	for _, s := range p.sandboxes {
		if s.state == status.StateRunning {
			return []string{"address of " + s.id}
		}
	}
	return nil
}

func (p *worldPod) empty() bool { return len(p.containers) == 0 && len(p.sandboxes) == 0 }

// inspections counts how often a side has inspected each pod.
type inspections struct {
	mu    sync.Mutex
	times map[types.UID]int
}

func (i *inspections) add(uid types.UID) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.times == nil {
		i.times = map[types.UID]int{}
	}
	i.times[uid]++
}

// take returns the counts and resets them.
func (i *inspections) take() map[types.UID]int {
	i.mu.Lock()
	defer i.mu.Unlock()
	times := i.times
	i.times = nil
	return times
}
