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
func (n *Node) ReloadConfig(ctx context.Context) (reload.Outcome, error) {
	if n.reload == nil {
		return reload.Outcome{}, errNotFollowed
	}
	return n.reload.Ask(ctx)
}

// wireReload makes what follows the configuration; nothing where it is from
// no file.
func (n *Node) wireReload(with *reload.Reload) {
	if with == nil {
		return
	}
	n.reload = reload.New(n.cfg, with.Path, reload.Parts{
		Apply: n.live(with.Level).Appliers(), Asked: with.Asked, Events: n.events, Node: n.node, Log: n.log, Notify: n.notify,
	})
}

// live is what takes other values of the agent's own parts.
func (n *Node) live(level *slog.LevelVar) *reload.Live {
	return &reload.Live{
		Level: level, RequestTimeout: n.client.SetTimeout, SyncFrequency: n.workers.SetSyncFrequency, StopDenied: n.mux.SetStopDenied,
		Terms: func(t policy.Terms) {
			if n.policies != nil {
				n.policies.SetTerms(t)
			}
		},
	}
}
