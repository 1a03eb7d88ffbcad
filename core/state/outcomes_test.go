package state

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/state/durable"
	"github.com/wardlet/wardlet/core/state/durable/durabletest"
)

func result(uid types.UID, restarts int32) *Outcome {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	return &Outcome{
		Namespace: "shop", Name: "web", UID: uid, Source: "files", Instance: "i",
		Status: v1.PodStatus{
			Phase: v1.PodSucceeded, Reason: "R", Message: "m", StartTime: &at,
			ContainerStatuses: []v1.ContainerStatus{{
				Name: "main", RestartCount: restarts, Image: "img", ImageID: "sha256:1", ContainerID: "containerd://1",
				State: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{Reason: "Completed", StartedAt: at, FinishedAt: at}},
			}},
		},
	}
}

// results returns all outcomes by UID. It fails the test if one cannot be read.
func results(t *testing.T, s Outcomes) map[types.UID]Outcome {
	t.Helper()
	all, errs := s.Load()
	if len(errs) != 0 {
		t.Fatal(errs)
	}
	read := map[types.UID]Outcome{}
	for _, o := range all {
		read[o.UID] = o
	}
	return read
}

func TestOutcomesComeBack(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	d, _ := open(t, path)
	s := d.Outcomes()
	for _, o := range []*Outcome{result("1", 0), result("../2", 3), result("3", 1), result("1", 4)} {
		check(t, s.Put(o))
	}
	check(t, s.Delete("3"))
	check(t, s.Delete("3"))
	data, err := os.ReadFile(filepath.Join(path, (&Dir{}).Outcomes().file("1")))
	check(t, err)
	for _, words := range []string{`"name": "web"`, `"phase": "Succeeded"`, `"restartCount": 4`} {
		if !strings.Contains(string(data), words) {
			t.Errorf("people cannot read %s in:\n%s", words, data)
		}
	}
	check(t, d.Close())

	d, _ = open(t, path)
	want := map[types.UID]Outcome{"1": *result("1", 4), "../2": *result("../2", 3)}
	if diff := cmp.Diff(want, results(t, d.Outcomes())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	entries, err := os.ReadDir(filepath.Join(path, outcomesDir))
	check(t, err)
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v", entry.Name(), info.Mode(), err)
		}
	}
}

// unusableOutcomes are outcomes that the agent cannot use.
var unusableOutcomes = map[string]struct {
	spoil func(*Outcome)
	err   string
}{
	"of no pod":                        {func(o *Outcome) { o.UID = "" }, "it names no pod"},
	"an end that is none":              {func(o *Outcome) { o.Status.Phase = v1.PodRunning }, `the phase "Running" is no end`},
	"a container without a name":       {func(o *Outcome) { o.Status.ContainerStatuses[0].Name = "" }, "a container has no name"},
	"a container with fewer than none": {func(o *Outcome) { o.Status.ContainerStatuses[0].RestartCount = -1 }, "restarted -1 times"},
}

func TestAnOutcomeNobodyCanGoOnWithIsNeitherWrittenNorRead(t *testing.T) {
	t.Parallel()
	for name, tc := range unusableOutcomes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, log := open(t, statePath(t))
			s := d.Outcomes()
			o := result("1", 1)
			tc.spoil(o)
			wantError(t, s.Put(o), tc.err)
			if got := results(t, s); len(got) != 0 {
				t.Errorf("stored: %v", got)
			}
			check(t, d.store((&Dir{}).Outcomes().file(o.UID), o))
			if got := results(t, s); len(got) != 0 {
				t.Errorf("read: %v", got)
			}
			if !strings.Contains(log.String(), "state file is corrupt") {
				t.Errorf("nothing is said of it: %s", log)
			}
		})
	}
}

func TestABadOutcomeIsMovedAsideAndTheRestIsRead(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, bad, good string){
		"a directory": func(t *testing.T, bad, _ string) {
			t.Helper()
			check(t, os.Remove(bad))
			check(t, os.Mkdir(bad, 0o700))
		},
		"another pod's": func(t *testing.T, bad, good string) {
			t.Helper()
			data, err := os.ReadFile(good)
			check(t, err)
			check(t, os.WriteFile(bad, data, 0o600))
		},
		"no outcome": func(t *testing.T, bad, _ string) {
			t.Helper()
			data, err := seal("nothing")
			check(t, err)
			check(t, os.WriteFile(bad, data, 0o600))
		},
	}
	for name, harm := range durabletest.Harms {
		for _, at := range []int{0, 40, 200} {
			tests[fmt.Sprintf("%s at byte %d", name, at)] = func(t *testing.T, bad, _ string) {
				t.Helper()
				data, err := os.ReadFile(bad)
				check(t, err)
				check(t, os.WriteFile(bad, harm(data, at), 0o600))
			}
		}
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, log := open(t, statePath(t))
			s := d.Outcomes()
			check(t, s.Put(result("bad", 1)))
			check(t, s.Put(result("good", 2)))
			file := filepath.Join(d.Path(), (&Dir{}).Outcomes().file("bad"))
			spoil(t, file, filepath.Join(d.Path(), (&Dir{}).Outcomes().file("good")))
			for range 2 {
				if got := results(t, s); len(got) != 1 || got["good"].UID != "good" {
					t.Errorf("read: %v", got)
				}
			}
			if strings.Count(log.String(), "state file is corrupt") != 1 {
				t.Errorf("not logged once: %s", log)
			}
			if _, err := os.Lstat(filepath.Join(d.Path(), quarantineDir, filepath.Base(file))); err != nil {
				t.Error(err)
			}
			check(t, s.Put(result("bad", 3)))
			if got := results(t, s); len(got) != 2 {
				t.Errorf("after it was written anew: %v", got)
			}
		})
	}
}

func TestWhatACrashLeftOfAnOutcomeIsRemoved(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	d, _ := open(t, path)
	check(t, d.Outcomes().Put(result("1", 1)))
	check(t, d.Close())
	left := filepath.Join(path, outcomesDir, durable.TempPrefix+"x")
	check(t, os.WriteFile(left, []byte("half"), 0o600))
	d, _ = open(t, path)
	if _, err := os.Lstat(left); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	if got := results(t, d.Outcomes()); len(got) != 1 {
		t.Errorf("read: %v", got)
	}
}

// TestADeletionIsKeptWithThePod checks that a pod is still being deleted after a restart, with
// the same grace period.
func TestADeletionIsKeptWithThePod(t *testing.T) {
	t.Parallel()
	path := statePath(t)
	d, _ := open(t, path)
	r := record("api", "u", "2")
	r.Pod.DeletionTimestamp = new(metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
	r.Pod.DeletionGracePeriodSeconds = new(int64(7))
	check(t, d.Documents().Put(r))
	check(t, d.Close())
	d, _ = open(t, path)
	if diff := cmp.Diff([]Record{*r}, load(t, d.Documents(), "api")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// FuzzOutcome reads arbitrary bytes as outcomes, with and without a valid checksum. An outcome
// that is accepted must be usable and must stay the same when it is stored again.
func FuzzOutcome(f *testing.F) {
	good, err := seal(result("1", 2))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(false, good)
	body := good[len(checksum(nil)):]
	f.Add(true, body)
	for name, tc := range unusableOutcomes {
		o := result("1", 2)
		tc.spoil(o)
		data, err := seal(o)
		if err != nil {
			f.Fatal(name, err)
		}
		f.Add(false, data)
	}
	for _, text := range []string{
		"", "null", "[]", "{}", `"x"`, "\x00", strings.Repeat("[", 20000), strings.ReplaceAll(string(body), "2026", "9999999"),
		`{"uid":"1","status":{"containerStatuses":[{"name":"a","restartCount":99999999999}]}}`,
		`{"uid":"1","status":{"containerStatuses":[{"name":"a","allocatedResources":{"cpu":"1e9999999999"}}]}}`,
	} {
		f.Add(true, []byte(text))
	}
	f.Fuzz(func(t *testing.T, sealed bool, data []byte) {
		if sealed {
			data = slices.Concat(checksum(data), data)
		}
		var o Outcome
		if unseal(data, &o) != nil || o.usable() != nil {
			return
		}
		if o.UID == "" || slices.ContainsFunc(o.Status.ContainerStatuses, func(c v1.ContainerStatus) bool { return c.RestartCount < 0 }) {
			t.Fatalf("taken as an outcome: %+v", o)
		}
		again, err := seal(&o)
		if err != nil {
			t.Fatal(err)
		}
		var back Outcome
		if err := unseal(again, &back); err != nil || back.usable() != nil {
			t.Fatalf("%v, %v", err, back.usable())
		}
		if twice, err := seal(&back); err != nil || !bytes.Equal(twice, again) {
			t.Fatalf("%v (-once +twice):\n%s", err, cmp.Diff(string(again), string(twice)))
		}
	})
}
