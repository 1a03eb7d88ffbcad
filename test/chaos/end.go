package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// end removes all manifests and looks for what is left, including in the agent's process.
func (r *run) end(ctx context.Context) error {
	empty, err := r.empty(ctx)
	if err != nil || !empty {
		return err
	}
	forgotten, err := r.node.forgotten()
	if err != nil {
		return err
	}
	for _, what := range forgotten {
		r.timeline.add("(forgotten by containerd: %s)", what)
	}
	return r.compareUsage(ctx)
}

// empty removes all manifests and reports whether nothing is left after a while. Whatever is left
// is a finding.
func (r *run) empty(ctx context.Context) (empty bool, err error) {
	r.ledger.empty(time.Now())
	files, err := filepath.Glob(r.node.Manifest("*.yaml"))
	if err != nil {
		return false, err
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil {
			return false, err
		}
	}
	r.timeline.add("all manifests are removed")
	began, most := time.Now(), r.patient(emptying)
	for restarted := false; ; {
		left, kept, err := r.node.leaks(ctx)
		if err != nil {
			return false, err
		}
		switch {
		case len(left)+len(kept) == 0:
			r.timeline.add("nothing is left after %.1f s", time.Since(began).Seconds())
			return true, nil
		case time.Since(began) > most:
			for i := range kept {
				left = append(left, kept[i].String())
			}
			for _, what := range left {
				r.findings.add(found(time.Now(), "", "left %.0f s after all manifests were removed: %s", time.Since(began).Seconds(), what))
			}
			return false, nil
		case len(left) == 0 && !restarted:
			r.timeline.add("nothing else is left after %.1f s", time.Since(began).Seconds())
			if err := r.restartForKept(ctx, kept); err != nil {
				return false, err
			}
			restarted, most = true, time.Since(began)+keptLongest+r.patient(emptying)
		}
		if err := pause(ctx, polling); err != nil {
			return false, err
		}
	}
}

// compareUsage compares the resources of the last agent, which was disturbed for long, with those
// of an agent that has only run a few pods.
func (r *run) compareUsage(ctx context.Context) error {
	used, err := r.used(ctx)
	if err != nil {
		return err
	}
	if err := r.node.stop(); err != nil {
		r.findings.add(found(time.Now(), "", "%v", err))
		return nil
	}
	if err := r.node.Start(); err != nil {
		return err
	}
	if err := r.answers(ctx); err != nil {
		return err
	}
	if empty, err := r.few(ctx); err != nil || !empty {
		return err
	}
	fresh, err := r.used(ctx)
	if err != nil {
		return err
	}
	r.timeline.add("the last agent has %d descriptors and %d goroutines, a fresh one %d and %d",
		used.open(), used.goroutines, fresh.open(), fresh.goroutines)
	for _, more := range used.more(&fresh) {
		r.findings.add(found(time.Now(), "", "with no pod left the agent holds %s", more))
	}
	if err := r.node.stop(); err != nil {
		r.findings.add(found(time.Now(), "", "%v", err))
	}
	return nil
}

// few runs some pods and lets them terminate. This is the only work of its agent.
func (r *run) few(ctx context.Context) (empty bool, err error) {
	const count = 8
	for _, name := range r.ledger.order[:count] {
		w := r.ledger.wish(name)
		s := step{Kind: editManifest, Pod: name, File: w.file, Version: w.next(), Image: imageOne}
		if err := r.performOnManifest(&s); err != nil {
			return false, err
		}
	}
	differences, err := r.until(ctx, r.patient(lateness))
	if err != nil {
		return false, err
	}
	r.findings.add(differences...)
	return r.empty(ctx)
}

// used returns the least resources that the agent held during some seconds.
func (r *run) used(ctx context.Context) (usage, error) {
	least := usage{files: map[string]int{}}
	for i := range 15 {
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return least, err
		}
		files, err := openFiles(r.node.Process.PID())
		if err != nil {
			return least, err
		}
		count, err := goroutines(ctx, r.node.Socket())
		if err != nil {
			return least, err
		}
		if i == 0 {
			least = usage{files, count}
			continue
		}
		least.goroutines = min(least.goroutines, count)
		for name := range least.files {
			least.files[name] = min(least.files[name], files[name])
		}
	}
	return least, nil
}

// answers waits until the agent has read its manifests.
func (r *run) answers(ctx context.Context) error {
	for end := time.Now().Add(r.patient(answering)); ; {
		var sources []api.SourceState
		err := r.node.API.Get(ctx, "/v1/sources", &sources)
		if err == nil && len(sources) == 1 && sources[0].Seen {
			return nil
		}
		if time.Now().After(end) {
			r.findings.add(found(time.Now(), "", "the agent has not read its manifests long after its start: %+v, %v", sources, err))
			return errBroken
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}
