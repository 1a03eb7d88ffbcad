package main

import (
	"context"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/api"
)

func someSources() []api.SourceState {
	return []api.SourceState{
		{Name: "static", Kind: "file", Location: "/etc/wardlet/manifests", Seen: true, LastRead: noon.Add(-5 * time.Second), Documents: 4, Bad: 3, Problems: []api.Problem{
			{
				Document: "a.yaml#0", Message: `/etc/wardlet/manifests/a.yaml:7: unknown field "spec.contaners"`, Since: noon, Kept: true, Running: true, Namespace: "default", Name: "a-edge",
				More: []string{`/etc/wardlet/manifests/a.yaml:9: unknown field "spec.hostnetwork"`},
			},
			{Document: "b.yaml#1", Message: "/etc/wardlet/manifests/b.yaml: not a pod", Since: noon},
			{Document: "held.yaml#0", Message: "/etc/wardlet/manifests/held.yaml:3: no", Since: noon, Kept: true, Namespace: "default", Name: "held-edge"},
		}},
		{Name: "gone", Kind: "file", Location: "/mnt/a", Seen: true, LastRead: noon.Add(-time.Hour), Documents: 1, Err: "stat /mnt/a: no such file or directory", Ignored: &api.Ignored{Files: 4, Names: []string{"WEB.YAML", "a.txt", "b\x1b.txt"}, Directories: 2}},
		{Name: "never", Kind: "file", Location: "/mnt/b", Err: "stat /mnt/b: no such file or directory"},
		{Name: "new", Kind: "file", Location: "/mnt/c"},
	}
}

func TestGetSources(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"get-sources":            {"sources"},
		"get-sources-named":      {"source", "new"},
		"get-sources-not-found":  {"source", "other"},
		"get-sources-no-headers": {"sources", "--no-headers"},
		"get-sources-name":       {"sources", "-o", "name"},
		"get-sources-json":       {"source", "static", "-o", "json"},
		"get-sources-yaml-list":  {"sources", "new", "gone", "-o", "yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{sources: [][]api.SourceState{someSources()}})
			golden(t, name, wardlet(t.Context(), append([]string{"get", "--socket", socket}, args...)...))
		})
	}
}

func TestWatchOfSourcesPrintsNewProblems(t *testing.T) {
	t.Parallel()
	before, read, after := someSources()[3:], someSources()[3:], someSources()[3:]
	read[0].Seen, read[0].LastRead, read[0].Documents = true, noon.Add(-time.Second), 1
	after[0] = read[0]
	after[0].LastRead = noon
	after[0].Problems = []api.Problem{{Message: "/mnt/c/x.yaml:1: no", Kept: true, Running: true}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	k := &knowledge{sources: [][]api.SourceState{before, before, read, read, after}, asked: func(n int) {
		if n == 7 {
			cancel()
		}
	}}
	socket, _ := serve(t, k)
	golden(t, "watch-sources", wardlet(ctx, "get", "sources", "-w", "--socket", socket))
}
