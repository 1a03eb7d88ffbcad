package agent

import (
	"context"
	"errors"
	"log/slog"

	"github.com/wardlet/wardlet/core/config/reload"
	"github.com/wardlet/wardlet/core/policy"
)

var errNotFollowed = errors.New("this agent was started without a configuration file to read again")

// ReloadConfig reads the configuration again at once, as a change of its file
// would. An error says why the file is refused, with every fault, and nothing
// changed then; or it is that of ctx. It waits for Run to have begun.
func (a *Agent) ReloadConfig(ctx context.Context) (reload.Outcome, error) {
	if a.reload == nil {
		return reload.Outcome{}, errNotFollowed
	}
	return a.reload.Ask(ctx)
}

// wireReload makes what follows the configuration; nothing where it is from
// no file.
func (a *Agent) wireReload(with *reload.Reload) {
	if with == nil {
		return
	}
	a.reload = reload.New(a.cfg, with.Path, reload.Parts{
		Apply: a.live(with.Level).Appliers(), Asked: with.Asked, Events: a.events, Node: a.node, Log: a.log, Notify: a.notify,
	})
}

// live is what takes other values of the agent's own parts.
func (a *Agent) live(level *slog.LevelVar) *reload.Live {
	return &reload.Live{
		Level: level, RequestTimeout: a.client.SetTimeout, SyncFrequency: a.workers.SetSyncFrequency, StopDenied: a.mux.SetStopDenied,
		Terms: func(t policy.Terms) {
			if a.policies != nil {
				a.policies.SetTerms(t)
			}
		},
	}
}
