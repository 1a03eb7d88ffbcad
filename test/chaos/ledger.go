package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// reading is how long an agent may take at most to read a change in a directory. It may be down for
// some of that time.
const reading = 20 * time.Second

// era is what a manifest asked for from some moment on.
type era struct {
	// version is the version of the pod, 0 for no pod at all.
	version int
	image   string
	since   time.Time
}

// wish is the recorded content of the manifest of one pod, over time.
type wish struct {
	name  string
	shape *shape
	// file is the name of the manifest.
	file string
	// eras is never empty; the newest era is the last.
	eras []era
	// broken is since when the manifest has been invalid, zero if it is valid.
	broken time.Time
}

func (w *wish) newest() era { return w.eras[len(w.eras)-1] }

// next returns an unused version.
func (w *wish) next() int {
	next := 1
	for _, e := range w.eras {
		next = max(next, e.version+1)
	}
	return next
}

// present reports whether the manifest exists, even if it is broken.
func (w *wish) present() bool { return w.newest().version > 0 || !w.broken.IsZero() }

// asked returns the versions that may be the last valid one for the agent, some time after the last
// change. If the manifest is broken, the agent may have missed the version that was there just
// before.
func (w *wish) asked() []int {
	if w.broken.IsZero() {
		return []int{w.newest().version}
	}
	var versions []int
	for i, e := range w.eras {
		until := w.broken
		if i+1 < len(w.eras) {
			until = w.eras[i+1].since
		}
		if !until.Before(w.broken.Add(-reading)) && !slices.Contains(versions, e.version) {
			versions = append(versions, e.version)
		}
	}
	return versions
}

// before reports whether the version was asked for before the newest one.
func (w *wish) before(version int) bool {
	return slices.ContainsFunc(w.eras[:len(w.eras)-1], func(e era) bool { return e.version == version })
}

// otherwise reports whether anything other than a version was asked for at some moment between two
// times.
func (w *wish) otherwise(version int, from, to time.Time) bool {
	for i, e := range w.eras {
		begun := !e.since.After(to)
		over := i+1 < len(w.eras) && w.eras[i+1].since.Before(from)
		if e.version != version && begun && !over {
			return true
		}
	}
	return false
}

// ledger records what the manifests and the policies ask for, and have asked for.
type ledger struct {
	mu     sync.Mutex
	wishes map[string]*wish
	// order has the names of the pods, in the order in which they were made.
	order []string
	// list is the index of the list of allowed images.
	list int
}

// newLedger returns a ledger in which every pod is asked for in its first version, by a manifest of
// its name.
func newLedger(all []*shape, at time.Time) *ledger {
	l := &ledger{wishes: map[string]*wish{}}
	for _, s := range all {
		for i := range s.count {
			name := fmt.Sprintf("%s-%02d", s.name, i)
			l.order = append(l.order, name)
			l.wishes[name] = &wish{
				name: name, shape: s, file: name + ".yaml", eras: []era{{version: 1, image: imageOne, since: at}},
			}
		}
	}
	return l
}

// note records a step that was done at that time.
func (l *ledger) note(s *step, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.wishes[s.Pod]
	switch s.Kind {
	case editManifest, rewriteManifest, moveManifest:
		w.eras, w.broken, w.file = append(w.eras, era{s.Version, s.Image, at}), time.Time{}, s.File
	case removeManifest:
		w.eras, w.broken = append(w.eras, era{since: at}), time.Time{}
	case breakManifest:
		w.broken = at
	case editPolicy:
		l.list = s.List
	}
}

// empty records that all manifests were removed.
func (l *ledger) empty(at time.Time) {
	for _, name := range l.order {
		l.note(&step{Kind: removeManifest, Pod: name}, at)
	}
}

// wish returns a copy of a pod's wish, nil for a name that was never asked for.
func (l *ledger) wish(pod string) *wish {
	l.mu.Lock()
	defer l.mu.Unlock()
	w, known := l.wishes[pod]
	if !known {
		return nil
	}
	copied := *w
	copied.eras = slices.Clone(w.eras)
	return &copied
}

// allowed reports whether policy allows an image now.
func (l *ledger) allowed(image string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(lists[l.list].images, image)
}
