package reload

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/config"
)

// Reasons of the events about the configuration. These events belong to no pod and have the node's
// name.
const (
	reasonConfigApplied      = "ConfigApplied"
	reasonConfigRefused      = "ConfigRefused"
	reasonConfigNeedsRestart = "ConfigNeedsRestart"
	reasonConfigInForce      = "ConfigInForce"
)

// act applies the keys of a new configuration that can change, and reports the keys that need a
// restart; or it reports why the file is refused. It does not repeat a report until it has changed.
func (r *Reloader) act(next *config.Config, fault error) (Outcome, error) {
	if fault != nil {
		r.refuse(fault)
		return Outcome{}, fault
	}
	if r.fault != "" {
		r.Log.Info("the configuration can be used again", "file", r.path)
		r.fault = ""
	}
	var outcome Outcome
	for _, c := range config.Compare(r.inForce, next) {
		if c.Restart {
			outcome.Restart = append(outcome.Restart, c)
		} else {
			outcome.Applied = append(outcome.Applied, c)
		}
	}
	r.inForce = r.inForce.InForce(next)
	for _, c := range outcome.Applied {
		r.applyKey(c)
	}
	r.tellRestart(outcome.Restart)
	return outcome, nil
}

// refuse reports that the file is not in force.
func (r *Reloader) refuse(fault error) {
	if text := fault.Error(); text != r.fault {
		r.fault = text
		r.Log.Error("the configuration is refused; what was in force stays", "file", r.path, "err", fault)
		r.event(v1.EventTypeWarning, reasonConfigRefused, text)
	}
}

// applyKey applies one key and logs it.
func (r *Reloader) applyKey(c config.Change) {
	tell := func() { r.Log.Info("the configuration changed", "key", c.Key, "was", c.From, "is", c.To) }
	// The new level may suppress this line before or after the change.
	told := r.Log.Enabled(context.Background(), slog.LevelInfo)
	if told {
		tell()
	}
	r.Apply[config.Rule(c.Key)](r.inForce)
	if !told {
		tell()
	}
	r.event(v1.EventTypeNormal, reasonConfigApplied, c.Key+" was "+strconv.Quote(c.From)+" and is "+strconv.Quote(c.To))
}

// tellRestart reports the keys that newly need a restart, and those that no longer need one.
func (r *Reloader) tellRestart(restart []config.Change) {
	defer func() { r.pending = restart }()
	for _, c := range restart {
		if !slices.Contains(r.pending, c) {
			r.Log.Warn("the configuration changed in a key that takes effect with a restart of the agent",
				"key", c.Key, "in_force", c.From, "in_file", c.To, "why", c.Why)
		}
	}
	for _, c := range r.pending {
		if !slices.ContainsFunc(restart, func(still config.Change) bool { return still.Key == c.Key }) {
			r.Log.Info("the configuration has again what is in force", "key", c.Key, "in_force", c.From)
		}
	}
	switch {
	case slices.Equal(r.pending, restart):
	case len(restart) == 0:
		r.event(v1.EventTypeNormal, reasonConfigInForce, r.path+" is in force; no key needs a restart any more")
	default:
		r.event(v1.EventTypeWarning, reasonConfigNeedsRestart, r.path+" changed; these keys need a restart: "+keysOf(restart))
	}
}

func (r *Reloader) event(eventType, reason, message string) {
	r.Events.Event(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: r.Node}}, eventType, reason, message)
}

func keysOf(changes []config.Change) string {
	keys := make([]string, len(changes))
	for i, c := range changes {
		keys[i] = c.Key
	}
	return strings.Join(keys, ", ")
}
