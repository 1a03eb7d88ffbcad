package main

import (
	"fmt"
	"sync"
	"time"
)

// finding is a rule that was broken.
type finding struct {
	at time.Time
	// pod is the name of its pod, empty if it is of no pod.
	pod  string
	text string
}

func found(at time.Time, pod, format string, values ...any) finding {
	return finding{at, pod, fmt.Sprintf(format, values...)}
}

// findings are kept once each.
type findings struct {
	mu   sync.Mutex
	list []finding
	seen map[string]bool
}

func (f *findings) add(all ...finding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range all {
		if f.seen == nil {
			f.seen = map[string]bool{}
		}
		if !f.seen[one.text] {
			f.seen[one.text] = true
			f.list = append(f.list, one)
		}
	}
}

func (f *findings) all() []finding {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]finding(nil), f.list...)
}
