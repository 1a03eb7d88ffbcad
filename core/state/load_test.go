package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state/durable"
)

// unusable are records with a valid checksum that the mux cannot use.
var unusable = map[string]struct {
	spoil func(r *Record)
	err   string
}{
	"no pod": {func(r *Record) { r.Pod = nil }, "no pod to keep"},
	"another pod than that policies changed": {func(r *Record) {
		other := r.Pod.DeepCopy()
		other.UID = "another"
		v := &api.Verdict{Answer: api.Allow, Mutation: &pod.Mutation{Final: other}}
		r.Decided = &Decided{Origin: api.Origin{Source: "files"}, Verdict: v}
	}, "the pod as policies changed it is another pod"},
	"nothing of what policies changed": {func(r *Record) {
		r.Suppressed = &Suppressed{Since: time.Unix(1, 0), Until: time.Unix(2, 0), Verdict: &api.Verdict{Answer: api.Allow, Mutation: &pod.Mutation{}}}
	}, "the pod as policies changed it is missing"},
	"no source":             {func(r *Record) { r.Source = "" }, "it names no document"},
	"no ID":                 {func(r *Record) { r.ID = "" }, "it names no document"},
	"a pod without UID":     {func(r *Record) { r.Pod.UID = "" }, "the pod has no UID"},
	"a pod without name":    {func(r *Record) { r.Pod.Name = "" }, "the pod has no name or no namespace"},
	"a pod of no namespace": {func(r *Record) { r.Pod.Namespace = "" }, "the pod has no name or no namespace"},
	"no containers":         {func(r *Record) { r.Pod.Spec.Containers = nil }, "the pod has no containers"},
	"decided of no source":  {func(r *Record) { r.Decided = &Decided{} }, "the decided pod has no source"},
	"decided of an incomplete pod": {func(r *Record) {
		r.Decided = &Decided{Origin: api.Origin{Source: "files"}, Pod: record("files", "a", "0").Pod}
		r.Decided.Pod.UID = ""
	}, "the pod has no UID"},
	"decided as a pod of another namespace": {func(r *Record) {
		r.Decided = &Decided{Origin: api.Origin{Source: "files"}, Identity: &types.NamespacedName{Namespace: "other", Name: "a"}}
	}, `the decided pod has the key "other/a"`},
	"decided as nothing": {func(r *Record) {
		r.Decided = &Decided{Origin: api.Origin{Source: "files"}, Identity: &types.NamespacedName{Namespace: r.Pod.Namespace}}
	}, "the decided pod has the key"},
	"a verdict that is none": {func(r *Record) {
		r.Decided = &Decided{Origin: api.Origin{Source: "files"}, Verdict: &api.Verdict{Answer: "maybe"}}
	}, `unknown verdict "maybe"`},
	"held back since never": {func(r *Record) { r.Suppressed = &Suppressed{} }, "it does not say how long it is held back"},
	"held back until before": {func(r *Record) {
		r.Suppressed = &Suppressed{Since: time.Unix(2, 0), Until: time.Unix(1, 0)}
	}, "it does not say how long it is held back"},
	"held back and denied": {func(r *Record) {
		r.Suppressed = &Suppressed{Since: time.Unix(1, 0), Until: time.Unix(2, 0), Verdict: &api.Verdict{Answer: api.Deny}}
	}, `it is held back by a filter, and the verdict is "deny"`},
}

func TestARecordThatCannotBeUsedIsMovedAside(t *testing.T) {
	t.Parallel()
	for name, tc := range unusable {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, log := open(t, statePath(t))
			r := record("files", "a", "1")
			tc.spoil(r)
			check(t, d.Documents().Put(record("files", "good", "1")))
			check(t, d.store(filepath.Join(documentsDir, r.document().file()), r))
			if diff := cmp.Diff(map[DocumentID]string{{"files", "good"}: "1"}, stored(t, d.Documents())); diff != "" {
				t.Errorf("versions (-want +got):\n%s", diff)
			}
			if _, err := os.Stat(filepath.Join(d.Path(), quarantineDir, r.document().file())); err != nil {
				t.Error(err)
			}
			if text := strings.ReplaceAll(log.String(), `\"`, `"`); strings.Count(text, tc.err) != 1 || !d.Lost() {
				t.Errorf("lost %v, log:\n%s", d.Lost(), text)
			}
		})
	}
}

func TestWhatIsNoRecordFileIsMovedAsideAndNeverBlocks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		plant func(t *testing.T, path string)
		err   string
	}{
		"a link to a record": {func(t *testing.T, path string) {
			t.Helper()
			target := filepath.Join(t.TempDir(), "elsewhere")
			data, err := seal(record("files", "bad", "1"))
			check(t, err)
			check(t, os.WriteFile(target, data, 0o600))
			check(t, os.Symlink(target, path))
		}, "it is not a regular file"},
		"a link that leads nowhere": {func(t *testing.T, path string) {
			t.Helper()
			check(t, os.Symlink("nowhere", path))
		}, "it is not a regular file"},
		"a pipe nobody writes to": {func(t *testing.T, path string) {
			t.Helper()
			check(t, unix.Mkfifo(path, 0o600))
		}, "it is not a regular file"},
		"a socket": {func(t *testing.T, path string) {
			t.Helper()
			check(t, unix.Mknod(path, unix.S_IFSOCK|0o600, 0))
		}, "it is not a regular file"},
		"a directory": {func(t *testing.T, path string) {
			t.Helper()
			check(t, os.MkdirAll(filepath.Join(path, "sub"), 0o700))
		}, "it is not a regular file"},
		"a file of a terabyte": {func(t *testing.T, path string) {
			t.Helper()
			check(t, os.WriteFile(path, nil, 0o600))
			check(t, os.Truncate(path, 1<<40))
		}, "it has 1099511627776 bytes, the agent writes no more than 67108864"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := prepared(t)
			d, log := open(t, path)
			bad := recordPath(d, "files", "bad")
			tc.plant(t, bad)
			want := map[DocumentID]string{{"files", "a"}: "1", {"http", "b"}: "1", {"files", "c"}: "1"}
			for range 2 {
				if diff := cmp.Diff(want, stored(t, d.Documents())); diff != "" {
					t.Errorf("versions (-want +got):\n%s", diff)
				}
			}
			if strings.Count(log.String(), tc.err) != 1 || !strings.Contains(log.String(), bad) {
				t.Errorf("not said once, with its place:\n%s", log)
			}
			// A new record can be written in its place.
			check(t, d.Documents().Put(record("files", "bad", "2")))
		})
	}
}

func TestADirectoryWithTheNameOfATemporaryFileStopsNothing(t *testing.T) {
	t.Parallel()
	path := prepared(t)
	foreign := filepath.Join(path, documentsDir, durable.TempPrefix+"dir")
	check(t, os.MkdirAll(filepath.Join(foreign, "sub"), 0o700))
	d, _ := open(t, path)
	if got := stored(t, d.Documents()); len(got) != 3 {
		t.Errorf("read: %v", got)
	}
}

func TestLoadAllGivesRecordsInOrder(t *testing.T) {
	t.Parallel()
	d, _ := open(t, statePath(t))
	var want []DocumentID
	var put []Record
	for _, source := range []string{"files", "http"} {
		for _, id := range []string{"a", "b", "c", "d"} {
			want = append(want, DocumentID{source, id})
			put = append(put, *record(source, id, "1"))
		}
	}
	check(t, d.Documents().Apply(put, nil))
	records, errs := d.Documents().LoadAll()
	var got []DocumentID
	for i := range records {
		got = append(got, records[i].document())
	}
	if diff := cmp.Diff(want, got); diff != "" || len(errs) > 0 {
		t.Errorf("errors %v (-want +got):\n%s", errs, diff)
	}
}
