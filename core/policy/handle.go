package policy

import (
	"log/slog"
	"reflect"
	"sync/atomic"

	"github.com/wardlet/wardlet/core/policy/wasm"
)

// handle is a loaded plugin that several sets may use, one after the other.
type handle struct {
	plugin Plugin
	// sum and options are what it was made from.
	sum     string
	options wasm.Options
	// users counts the sets that hold it. Only the reloader adds to it, and
	// only while a set holds it.
	users    atomic.Int32
	breakers breakers
	log      *slog.Logger
}

func newHandle(plugin Plugin, sum string, options wasm.Options, log *slog.Logger) *handle {
	h := &handle{plugin: plugin, sum: sum, options: options, log: log}
	h.users.Store(1)
	return h
}

// madeFrom reports whether loading would give the same plugin again.
func (h *handle) madeFrom(sum string, options *wasm.Options) bool {
	return h.sum == sum && reflect.DeepEqual(&h.options, options)
}

func (h *handle) acquire() *handle {
	h.users.Add(1)
	return h
}

// release closes the plugin after its last user.
func (h *handle) release() {
	if h.users.Add(-1) > 0 {
		return
	}
	if err := h.plugin.Close(); err != nil {
		h.log.Warn("plugin was not closed cleanly", "policy", h.options.Policy, "err", err)
	}
}
