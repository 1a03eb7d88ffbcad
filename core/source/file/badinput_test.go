package file

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
)

func TestABadManifestCostsNothingElse(t *testing.T) {
	t.Parallel()
	var bomb strings.Builder
	bomb.WriteString("x0: &x0 [a]\n")
	for i := range 9 {
		fmt.Fprintf(&bomb, "x%d: &x%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*x%d, ", i), 10))
	}
	for _, tc := range []struct{ rule, text, name string }{
		{"a NUL byte", strings.Replace(manifestOf("a", "i\x00"), "i\x00", "\"i\x00\"", 1), "a.yaml:7: "},
		{"a NUL byte in JSON", `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a` + "\x00" + `"}}`, "a.yaml:1: "},
		{"text that is not UTF-8", manifestOf("a", "\xff\xfe"), "a.yaml:"},
		{"UTF-16", "\xff\xfea\x00:\x00 \x00b\x00\n\x00", "a.yaml:"},
		{"a program", "\x7fELF\x02\x01\x01\x00\x00\x00", "a.yaml:1: "},
		{"anchors that explode", bomb.String(), "a.yaml:"},
		{"an anchor within itself", manifestOf("a", "i") + "x: &x [*x]\n", "a.yaml:"},
		{"brackets without end", strings.Repeat("[", 100000), "a.yaml:1: "},
		{"objects without end", strings.Repeat(`{"a":`, 100000), "a.yaml:1: "},
		{"a quantity of a billion digits", manifestOf("a", "i") + "    resources: {limits: {cpu: 1e999999999}}\n", "a.yaml:8: "},
		{"JSON that was cut off", `{"apiVersion": "v1", "kind": "Pod", "metadata": {`, "a.yaml:1: "},
		{"another kind of object", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n", "a.yaml:2: "},
		{"a thousand documents and one", strings.Repeat(manifestOf("a", "i")+"---\n", 1001), "a.yaml:"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			replace(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "good"))
			replace(t, filepath.Join(dir, "b.yaml"), manifestOf("b", "one"))
			s, k := started(t, dir)
			run(t, s, k)
			replace(t, filepath.Join(dir, "a.yaml"), tc.text)
			replace(t, filepath.Join(dir, "b.yaml"), manifestOf("b", "two"))
			eventually(t, true, func() bool {
				text := strings.Join(k.has(), "\n")
				return strings.Contains(text, tc.name) && strings.Contains(text, "b.yaml#0 b two")
			})
			// The sink must keep the last valid version of the bad document, so the document
			// must not be delivered as gone.
			for _, d := range k.all() {
				if len(d.Gone) > 0 {
					t.Errorf("gone: %q", d.Gone)
				}
			}
			if healths := k.healths(); len(healths) != 1 || healths[0] != "<nil>" {
				t.Errorf("the source itself works, health %q", healths)
			}
			replace(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "mended"))
			eventually(t, []string{"a.yaml#0 a mended", "b.yaml#0 b two"}, k.has)
		})
	}
}

// TestAManifestOf100MBCostsNoMoreThanTheLimit is not parallel, because allocations of other
// tests would be measured, too.
func TestAManifestOf100MBCostsNoMoreThanTheLimit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	write(t, path, manifestOf("a", "good"))
	must(t, os.Truncate(path, 100<<20))
	replace(t, filepath.Join(dir, "b.yaml"), manifestOf("b", "one"))
	s, k := newSource(dir, time.Nanosecond)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must(t, s.listAll(t.Context()))
	runtime.ReadMemStats(&after)
	want := []string{"a.yaml#* a.yaml: larger than 10485760 bytes; split it", "b.yaml#0 b one"}
	if diff := cmp.Diff(want, k.has()); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 2*manifest.MaxManifest {
		t.Errorf("allocated %d bytes, the limit of a manifest is %d", used, manifest.MaxManifest)
	}
}

// asAnyone calls do without the capabilities that let root ignore file modes.
func asAnyone(t *testing.T, do func()) {
	t.Helper()
	// Capabilities belong to a thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var had [2]unix.CapUserData
	must(t, unix.Capget(&head, &had[0]))
	less := had
	less[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	must(t, unix.Capset(&head, &less[0]))
	defer func() { must(t, unix.Capset(&head, &had[0])) }()
	do()
}

func TestAFileOrDirectoryThatMayNotBeReadIsAnErrorAndEndsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	replace(t, path, manifestOf("a", "one"))
	replace(t, filepath.Join(dir, "b.yaml"), manifestOf("b", "one"))
	s, k := started(t, dir)
	s.cfg.Settle = time.Nanosecond
	must(t, os.Chmod(path, 0))
	replace(t, filepath.Join(dir, "b.yaml"), manifestOf("b", "two"))
	asAnyone(t, func() { must(t, s.listAll(t.Context())) })
	want := []string{"a.yaml#* a.yaml: open a.yaml: permission denied", "a.yaml#0 a one", "b.yaml#0 b two"}
	if diff := cmp.Diff(want, k.has()); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}

	must(t, os.Chmod(dir, 0))
	asAnyone(t, func() {
		must(t, s.listAll(t.Context()))
		must(t, s.listAll(t.Context()))
	})
	must(t, os.Chmod(dir, 0o700))
	if diff := cmp.Diff(want, k.has()); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"<nil>", "list manifests: open DIR: permission denied"}, k.healths()); diff != "" {
		t.Errorf("health (-want +got):\n%s", diff)
	}

	must(t, os.Chmod(path, 0o600))
	must(t, s.listAll(t.Context()))
	if diff := cmp.Diff([]string{"a.yaml#0 a one", "b.yaml#0 b two"}, k.has()); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
}

func TestAFileThatVanishesBeforeItIsReadIsNoFault(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule string
		want []string
		harm func(t *testing.T, dir string)
	}{
		{"one that was read before is gone once that has lasted", []string{"b.yaml#0 b one"}, func(t *testing.T, dir string) {
			t.Helper()
			must(t, os.Remove(filepath.Join(dir, "a.yaml")))
		}},
		{"one that is new was never there", []string{"a.yaml#0 a one", "b.yaml#0 b one"}, func(t *testing.T, dir string) {
			t.Helper()
			must(t, os.Remove(filepath.Join(dir, "new.yaml")))
		}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			replace(t, filepath.Join(dir, "a.yaml"), manifestOf("a", "one"))
			replace(t, filepath.Join(dir, "b.yaml"), manifestOf("b", "one"))
			s, k := started(t, dir)
			s.cfg.Settle = time.Nanosecond
			replace(t, filepath.Join(dir, "new.yaml"), manifestOf("new", "i"))
			for _, f := range s.files {
				f.touched = true
			}
			_, entries, err := s.list()
			must(t, err)
			tc.harm(t, dir)
			s.takeIn(entries, maps.Keys(s.files), s.cfg.Now())
			must(t, s.deliver(t.Context(), maps.Keys(s.files), s.cfg.Now()))
			for _, text := range k.has() {
				if strings.Contains(text, api.HoldSuffix) || strings.Contains(text, "no such file") {
					t.Errorf("a fault: %s", text)
				}
			}
			must(t, os.RemoveAll(filepath.Join(dir, "new.yaml")))
			must(t, s.listAll(t.Context()))
			must(t, s.listAll(t.Context()))
			if diff := cmp.Diff(tc.want, k.has()); diff != "" {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
		})
	}
}
