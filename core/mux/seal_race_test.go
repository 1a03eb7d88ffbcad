//go:build race

package mux

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestAPodThatSomebodyChangedIsFoundInATestBuild(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		end  func(*Mux) error
	}{
		{"when it is replaced", func(m *Mux) error {
			return m.take(t.Context(), delivery{source: "one", docs: docs(good("a#0", "web", "u2"))})
		}},
		{"when it is removed", func(m *Mux) error {
			return m.take(t.Context(), delivery{source: "one", gone: []string{"a#0"}})
		}},
		{"when the mux ends", func(m *Mux) error { m.checkImmutability(); return nil }},
	} {
		for _, changed := range []bool{false, true} {
			var log bytes.Buffer
			m := New(Config{Sources: []Source{{Name: "one"}}, Documents: newDisk(), Logger: slog.New(slog.NewTextHandler(&log, nil)), Now: time.Now})
			d := good("a#0", "web", "u1")
			if err := m.take(t.Context(), delivery{source: "one", docs: docs(d)}); err != nil {
				t.Fatal(err)
			}
			if changed {
				d.Pod.Labels = map[string]string{"changed": "yes"}
			}
			if err := tc.end(m); err != nil {
				t.Fatal(err)
			}
			if found := strings.Contains(log.String(), changedPod); found != changed {
				t.Errorf("%s: changed %v, found %v: %s", tc.name, changed, found, log.String())
			}
		}
	}
}
