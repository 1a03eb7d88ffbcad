package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const (
	// shown is how many findings are printed, shownLines how many lines of the agent's log with
	// each finding, and shownBytes how much of each line.
	shown      = 12
	shownLines = 30
	shownBytes = 400
	// before and after are the time around a finding for which events and the agent's log are printed.
	before = 20 * time.Second
	after  = 3 * time.Second
)

// explain prints which rules were broken, what had been done until then and the agent's log around
// that time.
func (r *run) explain(broken []finding) {
	log, err := os.ReadFile(r.node.LogFile())
	if err != nil {
		log = []byte(err.Error())
	}
	w := r.report
	for i, f := range broken[:min(len(broken), shown)] {
		fmt.Fprintf(w, "\n%d. %s %s\n", i+1, clock(f.at), f.text)
		from, to := f.at.Add(-before), f.at.Add(after)
		if i == 0 || f.pod != "" {
			fmt.Fprintln(w, "  what was done:")
			r.explainEvents(w, from, to, f.pod)
		}
		fmt.Fprintln(w, "  what the agent said:")
		for _, line := range around(string(log), f.pod, from, to, shownLines) {
			fmt.Fprintln(w, "   ", line[:min(len(line), shownBytes)])
		}
	}
	if more := len(broken) - shown; more > 0 {
		fmt.Fprintf(w, "\nand %d more\n", more)
	}
	fmt.Fprintf(w, "\n%d findings with seed %d; logs are in %s\n", len(broken), r.seed, r.keep())
}

// explainEvents prints the events that concern a pod or all pods.
func (r *run) explainEvents(w io.Writer, from, to time.Time, pod string) {
	for _, e := range r.timeline.between(from, to) {
		others := false
		for _, name := range r.ledger.order {
			others = others || pod != "" && name != pod && strings.Contains(e.text, name)
		}
		if !others {
			fmt.Fprintln(w, "   ", e)
		}
	}
}

// keep copies the logs to a directory that outlives the run, and returns a text that names it.
func (r *run) keep() string {
	if err := os.MkdirAll(r.logs, 0o755); err != nil {
		return err.Error()
	}
	var events strings.Builder
	for _, e := range r.timeline.between(time.Time{}, time.Now()) {
		fmt.Fprintln(&events, e)
	}
	for _, f := range r.findings.all() {
		fmt.Fprintln(&events, "finding:", clock(f.at), f.text)
	}
	agent, err := os.ReadFile(r.node.LogFile())
	if err != nil {
		agent = []byte(err.Error())
	}
	for name, text := range map[string]string{
		"timeline": events.String(), "agent.log": string(agent), "containerd.log": r.node.Runtime.Log(1 << 20),
	} {
		if err := os.WriteFile(filepath.Join(r.logs, name), []byte(text), 0o600); err != nil {
			return err.Error()
		}
	}
	return r.logs
}

// event is something that was done at some time.
type event struct {
	at   time.Time
	text string
}

// timeline lists what was done, in order.
type timeline struct {
	mu     sync.Mutex
	events []event
	// out is where each event is written at once.
	out io.Writer
}

func (t *timeline) add(format string, values ...any) { t.addAt(time.Now(), format, values...) }

// addAt adds an event that began at some time, after it has ended.
func (t *timeline) addAt(at time.Time, format string, values ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := event{at, fmt.Sprintf(format, values...)}
	t.events = append(t.events, e)
	fmt.Fprintln(t.out, e)
}

func (e event) String() string { return clock(e.at) + " " + e.text }

// between returns the events between two moments.
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

// around returns the last lines of a log within a time, but no more than most. With a pod it returns
// only lines that name the pod, and warnings that name no pod. A line without a time belongs to the
// line before it.
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
