package state

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWhatPoliciesHaveEvictedIsKept(t *testing.T) {
	t.Parallel()
	d, _ := open(t, filepath.Join(t.TempDir(), "state"))
	s := d.EvictionCounts()
	for _, tenant := range []string{"", "a"} {
		want := Evictions{Tenant: tenant, Policies: []EvictionCount{
			{Policy: "p", Document: "d", Module: "m", Of: 50, Evicted: 5, Confirmed: true, Last: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)},
		}}
		if got, err := s.Load(tenant); err != nil || got.Tenant != tenant || len(got.Policies) > 0 {
			t.Errorf("before anything was stored: %+v, %v", got, err)
		}
		check(t, s.Store(&want))
		got, err := s.Load(tenant)
		check(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
	}
}

func TestADamagedCountOfEvictionsIsMovedAside(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, s EvictionCounts, path string){
		"of other bytes": func(t *testing.T, _ EvictionCounts, path string) {
			t.Helper()
			check(t, os.WriteFile(path, []byte("{"), 0o600))
		},
		"that counts what cannot be": func(t *testing.T, s EvictionCounts, _ string) {
			t.Helper()
			check(t, s.Store(&Evictions{Policies: []EvictionCount{{Policy: "p", Evicted: -1}}}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, _ := open(t, filepath.Join(t.TempDir(), "state"))
			s := d.EvictionCounts()
			check(t, s.Store(&Evictions{Policies: []EvictionCount{{Policy: "p"}}}))
			damage(t, s, filepath.Join(d.Path(), evictionsFile("")))
			if got, err := s.Load(""); err != nil || len(got.Policies) > 0 {
				t.Errorf("loaded %+v, %v", got, err)
			}
			if _, err := os.Lstat(filepath.Join(d.Path(), quarantineDir, filepath.Base(evictionsFile("")))); err != nil {
				t.Error(err)
			}
		})
	}
}
