package mux

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/state"
)

// relabels makes the judge change every pod it allows: the pod gets a label with the name of
// the policy set, and its image comes from a mirror.
func relabels(j *judge) {
	j.change = func(p *v1.Pod) {
		p.Labels = map[string]string{"by": j.set}
		p.Spec.Containers[0].Image = "mirror/" + p.Spec.Containers[0].Image
	}
}

// finals returns the changes that the sync loop was sent since the last call: the operation,
// and the image, label and phase of the new and of the old version.
func (g *gated) finals() []string {
	g.t.Helper()
	synctest.Wait()
	seen := func(p *v1.Pod) string {
		return strings.TrimSuffix(strings.Join([]string{p.Spec.Containers[0].Image, p.Labels["by"], string(p.Status.Phase)}, " "), " ")
	}
	var got []string
	for len(g.mux.Updates()) > 0 {
		for _, c := range (<-g.mux.Updates()).Changes {
			line := string(c.Op)
			if c.New != nil {
				line += " " + seen(c.New)
			}
			if c.Old != nil {
				line += " was " + seen(c.Old)
			}
			if c.New != nil && c.Verdict != nil && (c.Origin.Instance != "") != (c.Verdict.Mutation != nil) {
				line += " of the instance " + c.Origin.Instance
			}
			got = append(got, line)
		}
	}
	return got
}

// finalStep is one delivery or other policies, and the expected results.
type finalStep struct {
	docs  []api.Document
	set   string
	want  []string
	asked []string
}

// ofAPI returns a document of an API server's pod. The instance of such a pod depends on the
// pod, not on a document as written.
func ofAPI(id, name string, uid types.UID, img string, edits ...func(*v1.Pod)) api.Document {
	api := func(p *v1.Pod) { p.Annotations[pod.AnnotationSource] = pod.SourceAPI }
	return good(id, name, uid, append([]func(*v1.Pod){image(img), api}, edits...)...)
}

func TestTheSyncLoopGetsWhatPoliciesMadeOfThePod(t *testing.T) {
	t.Parallel()
	for kind, doc := range map[string]func(id, name string, uid types.UID, img string, edits ...func(*v1.Pod)) api.Document{"static": doc, "api": ofAPI} {
		for name, steps := range map[string][]finalStep{
			"a status change does not undo it, nor is it judged": {
				{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD mirror/web:1 s1"), asked: ops("ADD u1")},
				{docs: docs(doc("a#0", "web", "u1", "web:1", phase(v1.PodRunning))), want: ops("RECONCILE mirror/web:1 s1 Running was mirror/web:1 s1")},
				{docs: docs(doc("a#0", "web", "u1", "web:1", phase(v1.PodRunning)))},
			},
			"the end of a pod does not undo it": {
				{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD mirror/web:1 s1"), asked: ops("ADD u1")},
				{docs: docs(doc("a#0", "web", "u1", "web:1", deleted)), want: ops("DELETE mirror/web:1 s1 was mirror/web:1 s1")},
				{docs: docs(), want: ops("REMOVE was mirror/web:1 s1")},
			},
			"an update is judged as the source has it, beside what runs, and changed anew": {
				{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD mirror/web:1 s1"), asked: ops("ADD u1")},
				{docs: docs(doc("a#0", "web", "u1", "web:2")), want: ops("UPDATE mirror/web:2 s1 was mirror/web:1 s1"), asked: ops("UPDATE u1 old mirror/web:1")},
			},
			"a denied update leaves what runs as it was changed": {
				{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD mirror/web:1 s1"), asked: ops("ADD u1")},
				{docs: docs(doc("a#0", "web", "u1", "evil")), asked: ops("UPDATE u1 old mirror/web:1")},
				{docs: docs(doc("a#0", "web", "u1", "web:1", phase(v1.PodRunning))), want: ops("RECONCILE mirror/web:1 s1 Running was mirror/web:1 s1")},
			},
			"other policies change nothing of what runs": {
				{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD mirror/web:1 s1"), asked: ops("ADD u1")},
				{set: "s2"},
				{docs: docs(doc("a#0", "web", "u1", "web:1", phase(v1.PodRunning))), want: ops("RECONCILE mirror/web:1 s1 Running was mirror/web:1 s1")},
				{docs: docs(doc("a#0", "web", "u1", "web:3")), want: ops("UPDATE mirror/web:3 s2 was mirror/web:1 s1 Running"), asked: ops("UPDATE u1 old mirror/web:1")},
			},
			"a replacement has the old pod as it ran": {
				{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD mirror/web:1 s1"), asked: ops("ADD u1")},
				{docs: docs(doc("a#0", "web", "u2", "web:2")), want: ops("REMOVE was mirror/web:1 s1", "ADD mirror/web:2 s1"), asked: ops("ADD u2 old mirror/web:1 for u1")},
			},
			"a denied pod is as its source has it": {
				{docs: docs(doc("a#0", "web", "u1", "evil")), want: ops("ADD evil "), asked: ops("ADD u1")},
			},
			"another identity of the pod does not undo it": {
				{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD mirror/web:1 s1"), asked: ops("ADD u1")},
				{docs: docs(doc("b#0", "web", "u1", "web:1", phase(v1.PodRunning))), want: ops("RECONCILE mirror/web:1 s1 Running was mirror/web:1 s1")},
			},
		} {
			t.Run(kind+": "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					j := newJudge()
					relabels(j)
					g := startGated(t, newDisk(), j)
					for i, s := range steps {
						if s.set != "" {
							j.become(false, s.set)
						} else {
							g.deliver("one", s.docs...)
						}
						if diff := cmp.Diff(s.want, g.finals()); diff != "" {
							t.Errorf("step %d, operations (-want +got):\n%s", i+1, diff)
						}
						if asked := j.questions(); !slices.Equal(asked, s.asked) {
							t.Errorf("step %d, asked %q, want %q", i+1, asked, s.asked)
						}
					}
				})
			})
		}
	}
}

func TestAnUpdateToWhatPoliciesMadeOfThePodIsNoneForTheSyncLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, j := newDisk(), newJudge()
		relabels(j)
		g := startGated(t, d, j)
		g.deliver("one", ofAPI("a#0", "web", "u1", "web:1"))
		g.got()
		j.mu.Lock()
		j.change = nil
		j.mu.Unlock()
		same := func(p *v1.Pod) { p.Labels = map[string]string{"by": "s1"} }
		g.deliver("one", ofAPI("a#0", "web", "u1", "mirror/web:1", same))
		if got := g.finals(); got != nil {
			t.Errorf("operations %q", got)
		}
		if asked := j.questions(); !slices.Equal(asked, ops("ADD u1", "UPDATE u1 old mirror/web:1")) {
			t.Errorf("asked %q", asked)
		}
		if r := d.of("one", "a#0"); r.Decided.Verdict.Mutation != nil {
			t.Errorf("stored %+v, want the newer verdict", r.Decided.Verdict)
		}
		g.deliver("one", ofAPI("a#0", "web", "u1", "mirror/web:2", same))
		if diff := cmp.Diff(ops("UPDATE mirror/web:2 s1 was mirror/web:1 s1"), g.finals()); diff != "" {
			t.Errorf("operations (-want +got):\n%s", diff)
		}
	})
}

// reread encodes and decodes all records of the disk, as a restart does.
func (d *disk) reread(t *testing.T) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, r := range d.records {
		text, err := json.Marshal(&r)
		if err != nil {
			t.Fatal(err)
		}
		var back state.Record
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		d.records[id] = back
	}
}

func TestARestartGivesTheVeryObjectThatPoliciesMade(t *testing.T) {
	t.Parallel()
	for kind, doc := range map[string]func(id, name string, uid types.UID, img string, edits ...func(*v1.Pod)) api.Document{"static": doc, "api": ofAPI} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d, j := newDisk(), newJudge()
				relabels(j)
				g := startGated(t, d, j)
				g.deliver("one", doc("a#0", "web", "u1", "web:1"))
				first := (<-g.mux.Updates()).Changes
				if len(first) == 0 {
					first = (<-g.mux.Updates()).Changes
				}
				g.deliver("one", doc("a#0", "web", "u1", "evil")) // an update that waits
				g.got()
				g.stop()
				for range 2 {
					d.reread(t)
					// The policies in force after the restart do not change pods.
					j = newJudge()
					g = startGated(t, d, j)
					synctest.Wait()
					c := (<-g.mux.Updates()).Changes[0]
					if diff := cmp.Diff(first[0].New, c.New); diff != "" || c.Op != api.Restore {
						t.Errorf("%s (-before +after):\n%s", c.Op, diff)
					}
					if c.Verdict.Mutation.Hash() != first[0].Verdict.Mutation.Hash() || c.Origin.Instance != first[0].Origin.Instance || c.Origin.Instance == "" {
						t.Errorf("verdict %+v, origin %+v", c.Verdict, c.Origin)
					}
					if hash, err := pod.FinalHash(c.New); err != nil || hash != c.Verdict.Mutation.FinalHash {
						t.Errorf("hash %s, %v", hash, err)
					}
					g.deliver("one", doc("a#0", "web", "u1", "evil"))
					if got := g.finals(); got != nil {
						t.Errorf("then %q", got)
					}
					if asked := j.questions(); !slices.Equal(asked, ops("UPDATE u1 old mirror/web:1")) {
						t.Errorf("asked %q", asked)
					}
					g.stop()
				}
				d.reread(t)
				g = startGated(t, d, newJudge())
				g.got()
				g.deliver("one", doc("a#0", "web", "u1", "web:1", phase(v1.PodRunning)))
				if diff := cmp.Diff(ops("RECONCILE mirror/web:1 s1 Running was mirror/web:1 s1"), g.finals()); diff != "" {
					t.Errorf("the version that was admitted, again (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestAVerdictThatChangesThePodIsOnTheDiskWithTheObject(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, j := newDisk(), newJudge()
		relabels(j)
		g := startGated(t, d, j)
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		synctest.Wait()
		r := d.of("one", "a#0")
		if r.Pod.Spec.Containers[0].Image != "web:1" || r.Decided == nil || r.Decided.Verdict.Mutation.Final.Spec.Containers[0].Image != "mirror/web:1" {
			t.Errorf("stored %+v", r)
		}
	})
}

func TestThePodsOfTheNodeAreAsPoliciesMadeThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := newJudge()
		relabels(j)
		g := startGated(t, newDisk(), j)
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		g.got()
		if all := g.mux.Pods(); len(all) != 1 || all[0].Pod.Labels["by"] != "s1" {
			t.Errorf("pods %+v", all)
		}
	})
}

func TestAFilterSeesWhatPoliciesMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, f := newJudge(), newSieve(passes)
		relabels(j)
		g := startFiltered(t, newDisk(), j, f)
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		g.got()
		g.deliver("one", doc("a#0", "web", "u1", "web:2"))
		g.got()
		g.deliver("one", doc("a#0", "web", "u1", "web:2", phase(v1.PodRunning)))
		if diff := cmp.Diff(ops("RECONCILE mirror/web:2 s1 Running was mirror/web:2 s1"), g.finals()); diff != "" {
			t.Errorf("operations (-want +got):\n%s", diff)
		}
		want := ops("ADD u1 mirror/web:1", "UPDATE u1 mirror/web:2 old mirror/web:1", "RECONCILE u1 mirror/web:2 old mirror/web:2")
		if diff := cmp.Diff(want, f.questions()); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	})
}

func TestAFilterIsAskedAgainWhenPoliciesMakeAnotherPodOfWhatItHoldsBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, j, f := newDisk(), newJudge(), newSieve(drops)
		relabels(j)
		g := startFiltered(t, d, j, f)
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		g.got()
		f.questions()
		j.become(false, "s1")
		if g.got(); f.questions() != nil {
			t.Error("the filter is asked again about the same")
		}
		j.become(false, "s2")
		g.got()
		if asked := f.questions(); !slices.Equal(asked, ops("ADD u1 mirror/web:1")) {
			t.Errorf("asked %q", asked)
		}
		// A version that is held back passes after a restart, too, with the changes by
		// policies.
		g.stop()
		d.reread(t)
		g = startFiltered(t, d, newJudge(), newSieve(passes))
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		if diff := cmp.Diff(ops("ADD mirror/web:1 s2"), g.finals()); diff != "" {
			t.Errorf("after a restart (-want +got):\n%s", diff)
		}
	})
}

// checkFinal checks that a change has the pod as policies changed it, and that its old version
// is the version handed on last.
func (l *loop) checkFinal(c *api.Change) {
	l.t.Helper()
	uid := c.Pod().UID
	if c.Old != nil && c.Op != api.Restore && pod.Diff(l.newest[uid], c.Old) != 0 {
		l.t.Errorf("%s of %s is not of the version that was handed on last", c.Op, uid)
	}
	if l.newest[uid] = c.New; c.New == nil {
		delete(l.newest, uid)
		return
	}
	want := ""
	if c.Verdict != nil && c.Verdict.Mutation != nil {
		want = c.Verdict.Mutation.Final.Labels["by"]
	}
	if got := c.New.Labels["by"]; got != want {
		l.t.Errorf("%s of %s as changed by %q, want %q", c.Op, uid, got, want)
	}
}

// labels makes the judge add a label with the name of the policy set to every pod it allows.
func labels(j *judge) {
	j.change = func(p *v1.Pod) { p.Labels = map[string]string{"by": j.set} }
}
