package agent

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/state"
	"github.com/wardlet/wardlet/core/state/decisions"
)

func TestEveryOwnerOfPodsHasItsShareOfTheRecords(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Policy.RecordBytes = 3 << 20
	cfg.Tenants = []config.Tenant{{Name: "a", RecordBytes: 1 << 20}, {Name: "b", RecordBytes: 2 << 20}}
	if diff := cmp.Diff(map[string]int64{"": 3 << 20, "a": 1 << 20, "b": 2 << 20}, recordLimits(cfg)); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
}

func TestRecordsThatCannotBeOpenedAreNoReasonNotToStart(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]bool{"a directory that works": false, "a file in its place": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state")
			dir, err := state.Open(path, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			if broken {
				if err := os.WriteFile(filepath.Join(path, "decisions"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			a := &Node{state: dir, cfg: config.Default()}
			records := a.openDecisions()
			errs := records.Append("", []decisions.Entry{{Record: &decisions.Record{}}})
			if got := errs[0] != nil && strings.Contains(errs[0].Error(), "not a directory"); len(errs) != 1 || got != broken || (a.decisions == nil) != broken {
				t.Errorf("errors %v, log %v", errs, a.decisions)
			}
			if a.decisions != nil {
				if err := a.decisions.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
