package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// shown is how many findings are printed, shownLines how many lines of the agent's log with
	// each, and shownBytes how much of each line.
	shown      = 12
	shownLines = 30
	shownBytes = 400
	// before and after are how far around a finding the events and the agent's log are printed.
	before = 20 * time.Second
	after  = 3 * time.Second
)

// explain tells what was broken, what had been done until then and what the agent said around it.
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

// explainEvents tells those of a pod, and those that concern all.
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

// keep copies the logs to where they outlive the run, and says where.
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
