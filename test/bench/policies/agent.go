package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
	"github.com/wardlet/wardlet/test/bench/policies/guest"
)

// newEngine returns a sandbox as the agent configures it.
func (r *run) newEngine() (*wasm.Engine, error) {
	return wasm.NewEngine(r.agentCache(), slog.New(slog.DiscardHandler))
}

// load loads a guest into an engine as the agent would.
func load(ctx context.Context, e *wasm.Engine, g guest.Guest, binary []byte) (*wasm.Plugin, error) {
	return e.Load(ctx, binary, wasm.Options{
		Policy: g.String(), Hooks: []string{string(abi.HookAdmit)}, MemoryPages: g.MemoryPages(),
		Fuel: 10_000_000, OutputBytes: 64 << 10, Node: "node-1",
	})
}

// loaded is a guest that is loaded into an agent's engine.
type loaded struct {
	plugin  *wasm.Plugin
	request *abi.Request
}

// admit evaluates the pod, which must be allowed.
func (l *loaded) admit(ctx context.Context) error {
	result, err := l.plugin.Admit(ctx, l.request)
	if err == nil && result.Answer != api.Allow {
		return fmt.Errorf("the pod is not allowed: %s, %s", result.Answer, result.Message)
	}
	return err
}

// decide evaluates the pod and resets the instance.
func (l *loaded) decide(ctx context.Context) error {
	err := l.admit(ctx)
	l.plugin.Reset(ctx)
	return err
}

// agent has the loaded guests of one engine.
type agent struct {
	engine *wasm.Engine
	guests []*loaded
}

func (a *agent) close() error {
	var errs []error
	for _, l := range a.guests {
		errs = append(errs, l.plugin.Close())
	}
	return errors.Join(append(errs, a.engine.Close())...)
}
