package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// event is something that was done.
type event struct {
	at   time.Time
	text string
}

// timeline is what was done, in order.
type timeline struct {
	mu     sync.Mutex
	events []event
	// out is where each is written as it happens.
	out io.Writer
}

func (t *timeline) add(format string, values ...any) { t.addAt(time.Now(), format, values...) }

// addAt adds an event that began at some time, once it is over.
func (t *timeline) addAt(at time.Time, format string, values ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := event{at, fmt.Sprintf(format, values...)}
	t.events = append(t.events, e)
	fmt.Fprintln(t.out, e)
}

func (e event) String() string { return clock(e.at) + " " + e.text }

// between returns what was done from one moment to another.
func (t *timeline) between(from, to time.Time) []event {
	t.mu.Lock()
	defer t.mu.Unlock()
	var some []event
	for _, e := range t.events {
		if !e.at.Before(from) && !e.at.After(to) {
			some = append(some, e)
		}
	}
	return some
}

// clock returns the time of day of a moment, with milliseconds as in the agent's log.
func clock(at time.Time) string { return at.Format("15:04:05.000") }

// around picks the lines of a log of some time, no more than most of them, the last ones; of a pod only those that name it
// and those of no pod that warn. Lines without a time belong to the one before.
func around(log, pod string, from, to time.Time, most int) []string {
	var picked []string
	within := false
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\n")
		if text, ok := strings.CutPrefix(line, "time="); ok {
			stamp, _, _ := strings.Cut(text, " ")
			at, err := time.Parse(time.RFC3339Nano, stamp)
			within = err == nil && !at.Before(from) && !at.After(to) && concerns(line, pod)
		}
		if within {
			picked = append(picked, line)
		}
	}
	return picked[max(0, len(picked)-most):]
}

func concerns(line, pod string) bool {
	return pod == "" || strings.Contains(line, pod) || !strings.Contains(line, "pod=") && !strings.Contains(line, "level=DEBUG")
}
