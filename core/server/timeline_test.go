package server

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

func TestOfASuppressedUpdateIsSaidWhenTheFilterIsAskedAgainAndWhenItPasses(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	update := func(wait string, again, until time.Time) api.WaitingUpdate {
		return api.WaitingUpdate{Op: api.UpdateOp, Wait: wait, Message: "at night", Since: noon, Again: again, Until: until}
	}
	const passes = "; passes at 2026-03-01T13:00:00Z in any case, or with wardlet release"
	later, end := noon.Add(time.Minute), noon.Add(time.Hour)
	for name, test := range map[string]struct {
		update api.WaitingUpdate
		want   string
	}{
		"deferred": {
			update(api.WaitDeferred, later, end),
			"a filter holds the update back since 2026-03-01T12:00:00Z: at night; the filter is asked again at 2026-03-01T12:01:00Z" + passes,
		},
		"deferred until it passes": {
			update(api.WaitDeferred, end, end), "a filter holds the update back since 2026-03-01T12:00:00Z: at night" + passes,
		},
		"dropped": {
			update(api.WaitDropped, time.Time{}, end),
			"a filter holds the update back since 2026-03-01T12:00:00Z: at night; the filter is asked again when the pod changes" + passes,
		},
		"a new pod": {
			api.WaitingUpdate{Op: api.Add, Wait: api.WaitDropped, Policy: "window", Since: noon, Until: end},
			"a filter holds the new pod back since 2026-03-01T12:00:00Z: window; the filter is asked again when the pod changes" + passes,
		},
		"not answered": {
			api.WaitingUpdate{Op: api.UpdateOp, Wait: api.WaitAsked}, "a filter holds the update back; it has not answered yet",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := timeline{story: api.Timeline{Updates: []api.WaitingUpdate{test.update}}}
			s.tellWaiting()
			if diff := cmp.Diff([]api.Entry{{Part: api.PartWait, Text: test.want}}, s.story.Now); diff != "" {
				t.Errorf("what is said (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatIsAskedIsToldWithWhatTheAnswerWaitsFor(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	asked := &api.Asked{Hook: api.HookAdmit, Since: noon, Policy: "p", Message: `policy "p" is being asked`}
	const is = `admission is being asked since 2026-03-01T12:00:00Z: policy "p" is being asked`
	running := &v1.Pod{}
	for name, test := range map[string]struct {
		waits  api.Waiting
		update *api.WaitingUpdate
		want   string
	}{
		"a new pod":     {api.Waiting{Asked: asked}, nil, "the pod waits; " + is},
		"a new version": {api.Waiting{Running: running, Asked: asked}, nil, "the new version waits, the old one runs on; " + is},
		"a pod that is held": {
			api.Waiting{Verdict: api.Verdict{Answer: api.Hold, Message: "not now"}, RetryAt: noon, Asked: asked}, nil, "the pod is held: not now; " + is,
		},
		"an update that a filter has not answered": {
			api.Waiting{Running: running, Suppressed: true, Asked: asked},
			&api.WaitingUpdate{Op: api.UpdateOp, Wait: api.WaitAsked, Message: is},
			"the update waits: " + is,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := timeline{waiting: []api.Waiting{test.waits}}
			if test.update != nil {
				s.story.Updates = []api.WaitingUpdate{*test.update}
			}
			s.tellWaiting()
			if diff := cmp.Diff([]api.Entry{{Part: api.PartWait, Text: test.want}}, s.story.Now); diff != "" {
				t.Errorf("what is said (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAStoredVerdictIsToldWhereNoDecisionTellsIt(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const stored = "as it is stored with the pod; the decision itself is not shown any more"
	decision := func(uid types.UID, answer api.Answer, first, last time.Duration) api.Decision {
		return api.Decision{Hook: "admit", UID: uid, First: noon.Add(first), Last: noon.Add(last), Count: 1, Verdict: api.Verdict{Answer: answer}}
	}
	for name, test := range map[string]struct {
		verdict   *api.Verdict
		decisions []api.Decision
		told      bool
	}{
		"no verdict":            {nil, nil, false},
		"no decision is shown":  {&api.Verdict{Answer: api.Allow, At: noon}, nil, true},
		"its decision is shown": {&api.Verdict{Answer: api.Allow, At: noon}, []api.Decision{decision("u1", api.Allow, 0, 0)}, false},
		"a decision that was made again later is shown": {
			&api.Verdict{Answer: api.Allow, At: noon}, []api.Decision{decision("u1", api.Allow, -time.Hour, time.Hour)}, false,
		},
		"a later decision is shown":                   {&api.Verdict{Answer: api.Allow, At: noon}, []api.Decision{decision("u1", api.Allow, 1, 1)}, true},
		"an earlier decision is shown":                {&api.Verdict{Answer: api.Allow, At: noon}, []api.Decision{decision("u1", api.Allow, -2, -1)}, true},
		"another decision at the time is shown":       {&api.Verdict{Answer: api.Allow, At: noon}, []api.Decision{decision("u1", api.Hold, 0, 0)}, true},
		"a decision about another pod is shown":       {&api.Verdict{Answer: api.Allow, At: noon}, []api.Decision{decision("u2", api.Allow, 0, 0)}, true},
		"it was adopted, which no policy has decided": {&api.Verdict{Answer: api.Allow, Reason: api.ReasonAdopted, At: noon}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdicts := map[types.UID]*api.Verdict{"u0": {Answer: api.Deny}}
			if test.verdict != nil {
				verdicts["u1"] = test.verdict
			}
			s := timeline{
				o:     &Options{Verdicts: func() map[types.UID]*api.Verdict { return verdicts }},
				pods:  []v1.Pod{{ObjectMeta: metav1.ObjectMeta{UID: "u1"}}},
				story: api.Timeline{Decisions: test.decisions},
			}
			s.tellStored()
			var want []api.Entry
			if test.told {
				want = []api.Entry{{At: noon, Part: api.PartAdmit, Text: "allow", Details: []string{stored}}}
				if test.verdict.Reason != "" {
					want[0].Text += " (" + test.verdict.Reason + ")"
				}
			}
			if diff := cmp.Diff(want, s.story.Moments); diff != "" {
				t.Errorf("what is told (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNothingIsSaidOfAStartBeforeWhichNothingIsKnown(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		started time.Time
		at      time.Time
		marked  bool
	}{
		"before the start":              {noon, noon.Add(-1), true},
		"at the start":                  {noon, noon, false},
		"at a time that is not known":   {noon, time.Time{}, false},
		"and when it was, is not known": {time.Time{}, noon, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := timeline{o: &Options{Started: test.started}, story: api.Timeline{Moments: []api.Entry{{At: test.at}}}}
			s.tellStart()
			last := s.story.Moments[len(s.story.Moments)-1]
			if last.Before != test.marked || (len(s.story.Moments) == 2) != test.marked {
				t.Errorf("told %+v", s.story.Moments)
			}
		})
	}
}

func TestWhatEachPolicySaid(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		hook    string
		opinion api.Opinion
		want    []string
	}{
		"a denial": {
			api.HookAdmit,
			api.Opinion{Policy: "p", Tenant: "a", Answer: api.Deny, Reason: "No", Message: "not here", Fuel: 7, Reads: []string{"name"}},
			[]string{"policy p of tenant a: deny (No): not here", "  read name; fuel 7"},
		},
		"an exception, with its owner and end": {
			api.HookAdmit,
			api.Opinion{Policy: "p", Answer: api.Abstain, Reason: api.ReasonException, Message: "not asked: an exception of ops until 2026-12-31T00:00:00Z: migration"},
			[]string{"policy p: abstain (Exception): not asked: an exception of ops until 2026-12-31T00:00:00Z: migration"},
		},
		"one that only warns": {
			api.HookAdmit,
			api.Opinion{Policy: "p", Mode: api.ModeWarn, Answer: api.Hold},
			[]string{"policy p (warn, does not count): hold", "  read nothing; fuel 0"},
		},
		"a member of a group": {
			api.HookAdmit,
			api.Opinion{Policy: "p", Mode: api.ModeMember, Answer: api.Deny, Failure: "Trap"},
			[]string{"policy p (counts in its groups): deny", "  it failed with Trap; on_error decided", "  read nothing; fuel 0"},
		},
		"a connection that a failure denies": {
			api.HookConnect,
			api.Opinion{Policy: "p", Answer: api.Deny, Failure: "Trap"},
			[]string{"policy p: deny", "  it failed with Trap; then connections are denied, but to root on the local socket", "  read nothing; fuel 0"},
		},
		"a group that depends on a failure": {
			api.HookAdmit,
			api.Opinion{Policy: "g", Answer: api.Deny, Failure: api.FailureOfMember, Message: "p says deny"},
			[]string{"policy g: deny: p says deny", "  a member of the group failed; its on_error decided", "  read nothing; fuel 0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, opinion(test.hook, &test.opinion)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAStoryIsInOrder(t *testing.T) {
	t.Parallel()
	second := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return second.Add(time.Duration(ms) * time.Millisecond) }
	const uid = types.UID("u")
	started := metav1.NewTime(second) // the times in a status are in whole seconds
	p := v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: uid}, Status: v1.PodStatus{
		StartTime: &started, ContainerStatuses: []v1.ContainerStatus{{Name: "c", State: v1.ContainerState{
			Running: &v1.ContainerStateRunning{StartedAt: metav1.NewTime(at(900))},
		}}},
	}}
	s := timeline{
		o: &Options{Sources: known{}}, pods: []v1.Pod{p},
		// The pod was denied at first. It counts as new since other policies judged it.
		origins: map[types.UID]api.Origin{uid: {Source: "static", Document: "/web.yaml#0", FirstSeen: at(500)}},
		story: api.Timeline{Decisions: []api.Decision{
			{Hook: api.PartAdmit, UID: uid, First: at(200), Verdict: api.Verdict{Answer: api.Deny}},
			{Hook: api.PartAdmit, UID: uid, First: at(600), Verdict: api.Verdict{Answer: api.Allow}},
		}},
	}
	s.tell()
	var got []string
	for i := range s.story.Moments {
		got = append(got, s.story.Moments[i].Part+": "+s.story.Moments[i].Text)
	}
	want := []string{
		"source: /web.yaml of source static has pod web (UID u)",
		"admit: deny", "admit: allow",
		"runtime: pod web was admitted by the node",
		"runtime: container c started",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the story (-want +got):\n%s", diff)
	}
}

func TestStory_faultsOfDocumentsThatNameOtherPodsAreNotTold(t *testing.T) {
	t.Parallel()
	problem := func(document, name, message string) api.Problem {
		p := api.Problem{Document: document, Name: name, Message: message}
		if name != "" {
			p.Namespace = "default"
		}
		return p
	}
	problems := []api.Problem{
		problem("m#0", "other-edge", "of what it comes from"),
		problem("m#4", "y4-edge", "of another pod"),
		problem("m#5", "", "of a pod that is not named"),
		problem("n#0", "", "of another file"),
		problem("m#6", "web-edge", "of a second one of its name"),
		{Document: "m#7", Namespace: "shop", Name: "web-edge", Message: "of that name in another namespace"},
	}
	for name, test := range map[string]struct {
		pods []v1.Pod
		pod  string
		want []string
		now  string
	}{
		"a pod that runs": {
			[]v1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-edge", UID: "u1"}}},
			"web",
			[]string{"m of source s has pod web-edge (UID u1)", "m of source s cannot be used: of what it comes from", "m#5 of source s cannot be used: of a pod that is not named", "m#6 of source s cannot be used: of a second one of its name"},
			"pod web-edge (UID u1): phase unknown",
		},
		"a pod of which there only is a bad document": {
			nil, "y4",
			[]string{"m#4 of source s cannot be used: of another pod", "m#5 of source s cannot be used: of a pod that is not named"},
			"the document that names such a pod cannot be used, and nothing of it runs",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := &known{pods: func() *v1.PodList { return &v1.PodList{Items: test.pods} }, sources: []api.SourceState{{Name: "s", Seen: true, Problems: problems}}}
			s := timeline{
				o: &Options{
					Pods: k, Sources: k, Events: k, Node: "edge",
					Origins: func() map[types.UID]api.Origin {
						return map[types.UID]api.Origin{"u1": {Source: "s", Document: "m#0"}}
					},
				},
				story: api.Timeline{Namespace: "default", Name: test.pod},
			}
			if !s.gather() {
				t.Fatal("nothing is known of the pod")
			}
			s.tell()
			var got []string
			for _, m := range s.story.Moments {
				got = append(got, m.Text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("what is told (-want +got):\n%s", diff)
			}
			if len(s.story.Now) != 1 || s.story.Now[0].Text != test.now {
				t.Errorf("now: %+v, want %s", s.story.Now, test.now)
			}
		})
	}
}

func TestTimeline_tellsAConnection(t *testing.T) {
	t.Parallel()
	s := timeline{o: &Options{}}
	s.tellDecision(&api.Decision{
		Hook: api.HookConnect, Op: api.Connect, Count: 1, Connection: "exec in container main by alice (node-api): sh",
		Verdict: api.Verdict{Answer: api.Deny, Reason: "NoExec", Message: "not here", Opinions: []api.Opinion{{Policy: "no-exec", Answer: api.Deny}}},
	})
	want := []api.Entry{{
		Part: "connect", Text: "CONNECT: deny (NoExec): not here",
		Details: []string{"requested: exec in container main by alice (node-api): sh", "policy no-exec: deny", "  read nothing; fuel 0"},
	}}
	if diff := cmp.Diff(want, s.story.Moments); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
