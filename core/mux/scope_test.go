package mux

import (
	"log/slog"
	"testing"
	"time"
)

func TestAHeldManifestSaysWhetherSomethingOfItRunsOn(t *testing.T) {
	t.Parallel()
	s := newStore(&Config{Sources: []Source{{Name: "one"}}})
	s.merge(delivery{source: "one", snapshot: true, docs: docs(good("m#0", "a", "ua"), bad("n#*"))}, s.begin(time.Now(), slog.New(slog.DiscardHandler)))
	s.merge(delivery{source: "one", docs: docs(bad("m#*"))}, s.begin(time.Now(), slog.New(slog.DiscardHandler)))
	kept := map[string]bool{}
	for _, p := range s.sources["one"].state(everything).Problems {
		kept[p.Document] = p.Kept
	}
	if !kept["m#*"] || kept["n#*"] || len(kept) != 2 {
		t.Errorf("kept: %v, want something of m and nothing of n", kept)
	}
}
