package main

import (
	"context"
	"sync"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	// watching is the time between two looks of the witness.
	watching = 100 * time.Millisecond
	// tolerance is how long containerd may list a container as running whose processes have exited. If
	// it loses a shim, it reports at once that the container is stopped, but lists it as running for
	// some seconds more.
	tolerance = 15 * time.Second
)

// witness observes what runs, all the time, and finds violations.
type witness struct {
	cri criapi.RuntimeServiceClient
	// cgroup is the name of the agent's cgroup root.
	cgroup   string
	ledger   *ledger
	findings *findings

	mu     sync.Mutex
	newest view
	// known are all units that were seen, by ID; ran are those that ran and have not ended yet.
	known, ran map[string]*unit
	// killed are the units that a disturbance has killed.
	killed map[string]bool
	// lives are the containers that have run of pods that may run only once, by pod and name.
	lives map[string]map[string]bool
	// doubts are since when something runs twice by the process table, claims since when it does by
	// the runtime's list.
	doubts, claims map[string]time.Time
	// looks is how many lists the runtime returned.
	looks int
}

func newWitness(cri criapi.RuntimeServiceClient, cgroup string, l *ledger, f *findings) *witness {
	return &witness{
		cri: cri, cgroup: cgroup, ledger: l, findings: f,
		known: map[string]*unit{}, ran: map[string]*unit{}, killed: map[string]bool{}, lives: map[string]map[string]bool{},
	}
}

// run looks until ctx ends.
func (w *witness) run(ctx context.Context) {
	tick := time.NewTicker(watching)
	defer tick.Stop()
	for {
		if v, err := look(ctx, w.cri, time.Second); err == nil { // else the runtime is frozen or dead, but its processes can be read
			w.findings.add(w.see(&v)...)
		}
		if processes, err := containersIn(w.cgroup); err == nil {
			w.findings.add(w.seeProcesses(time.Now(), begun(processes))...)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// see records a view and returns the violations.
func (w *witness) see(v *view) []finding {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.newest = *v
	w.looks++
	var all []finding
	all, w.claims = lasting(twice(v), w.claims, tolerance)
	there := map[string]bool{}
	for _, units := range [][]unit{v.sandboxes, v.containers} {
		for i := range units {
			u := &units[i]
			w.remember(u)
			if u.state != dead {
				there[u.id] = true
			}
			if u.state == alive {
				w.ran[u.id] = w.known[u.id]
				all = append(all, w.live(v.at, u)...)
			}
		}
	}
	for id, u := range w.ran {
		if !there[id] {
			delete(w.ran, id)
			all = append(all, w.ended(v.at, u)...)
		}
	}
	return all
}

// remember stores a unit. The version of a container is known once its sandbox is known.
func (w *witness) remember(u *unit) {
	if u.version == 0 {
		if home := w.known[u.sandbox]; home != nil {
			u.version = home.version
		}
	}
	w.known[u.id] = u
}

// live returns a finding if a running unit belongs to a pod that was never asked for, or is a
// second instance of a container that may run only once.
func (w *witness) live(at time.Time, u *unit) []finding {
	asked := w.ledger.wish(u.pod)
	if asked == nil {
		return []finding{found(at, u.pod, "something runs that nobody ever asked for: %s", u)}
	}
	if !asked.shape.once || u.name == "" {
		return nil
	}
	key := u.uid + "/" + u.name
	if w.lives[key] == nil {
		w.lives[key] = map[string]bool{}
	}
	w.lives[key][u.id] = true
	if len(w.lives[key]) > 1 {
		return []finding{found(at, u.pod, "a pod that is never restarted runs again: %s", u)}
	}
	return nil
}

// ended returns a finding if a unit ended without a cause: no disturbance ended it, and its
// manifest asked for it all the time. The exit of an agent or of containerd is not a cause.
func (w *witness) ended(at time.Time, u *unit) []finding {
	asked := w.ledger.wish(u.pod)
	if asked == nil || asked.shape.ends || w.killed[u.id] || w.killed[u.sandbox] || asked.otherwise(u.version, u.created.Add(-reading), at) {
		return nil
	}
	return []finding{found(at, u.pod, "something ended that nothing had ended: %s", u)}
}

// seeProcesses records the processes of containers and returns the violations.
func (w *witness) seeProcesses(at time.Time, processes map[string][]int) []finding {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []finding
	all, w.doubts = lasting(twiceInProc(at, processes, w.known), w.doubts, watching/2)
	return all
}

// lasting returns the findings that have existed for at least the time least, and since when each
// of now has existed.
func lasting(now []finding, since map[string]time.Time, least time.Duration) (all []finding, seen map[string]time.Time) {
	seen = map[string]time.Time{}
	for _, f := range now {
		began, before := since[f.text]
		if !before {
			began = f.at
		}
		seen[f.text] = began
		if before && f.at.Sub(began) >= least {
			all = append(all, f)
		}
	}
	return all, seen
}

// pick returns one of a pod's running containers, or its sandbox, and records that a disturbance
// kills it; nil if there is none.
func (w *witness) pick(pod string, choice int, sandbox bool) *unit {
	w.mu.Lock()
	defer w.mu.Unlock()
	units := w.newest.containers
	if sandbox {
		units = w.newest.sandboxes
	}
	var running []*unit
	for i := range units {
		if units[i].pod == pod && units[i].state == alive {
			running = append(running, &units[i])
		}
	}
	if len(running) == 0 {
		return nil
	}
	picked := running[choice%len(running)]
	w.killed[picked.id] = true
	return picked
}

// seen returns how many lists the runtime returned.
func (w *witness) seen() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looks
}
