package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/config/reload"
	"github.com/wardlet/wardlet/core/server"
)

// reloading runs a local API that serves only reloads, until the test ends.
func reloading(t *testing.T, outcome reload.Outcome, fault error) (socket string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "wardlet") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket = filepath.Join(dir, "w.sock")
	l, err := server.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.Options{Logger: slog.New(slog.DiscardHandler)})
	s.ServeReload(func(context.Context) (any, error) { return outcome, fault })
	ctx, cancel := context.WithCancel(context.Background())
	var served sync.WaitGroup
	served.Go(func() {
		if err := s.Serve(ctx, l); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); served.Wait() })
	return socket
}

func TestReloadPrints(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		outcome reload.Outcome
		fault   error
	}{
		"reload-nothing": {},
		"reload": {outcome: reload.Outcome{
			Applied: []config.Change{{Key: "log_level", From: "info", To: "debug"}},
			Restart: []config.Change{
				{Key: "node_name", Restart: true, Why: "it is part of the UIDs and names of pods", To: "edge\x1b[2J"},
				{Key: "source[fleet]", Restart: true, Why: "sources are made once, when the agent starts", From: "absent", To: "present"},
			},
		}},
		"reload-refused": {fault: errors.New("the configuration cannot be used:\n/etc/wardlet/agent.toml:1: lvel: unknown key")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := reloading(t, test.outcome, test.fault)
			golden(t, name, wardlet(t.Context(), "reload", "--socket", socket), socket, "SOCKET")
		})
	}
}

func TestReloadHelps(t *testing.T) {
	t.Parallel()
	golden(t, "help-reload", wardlet(t.Context(), "reload", "--help"))
	golden(t, "usage-reload-arguments", wardlet(t.Context(), "reload", "policies"))
}
