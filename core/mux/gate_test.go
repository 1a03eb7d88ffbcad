package mux

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/pod"
)

// judge is a Gate that answers by the image of the first container: "evil"
// denied, "wait" held, "stuck" never answered, all else allowed.
type judge struct {
	changed chan struct{}

	mu      sync.Mutex
	asked   []string
	lenient bool
	set     string
	// allowed are the instances that were ever allowed.
	allowed map[string]bool
	retry   time.Duration
	// answers are given one after the other.
	answers []func()
	giving  bool
	pending sync.WaitGroup
}

func newJudge() *judge {
	return &judge{changed: make(chan struct{}, 1), set: "s1", allowed: map[string]bool{}}
}

func (j *judge) Changed() <-chan struct{} { return j.changed }

func (j *judge) Judge(q pod.Question, answer func(pod.Verdict)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	line := fmt.Sprintf("%s %s", q.Op, q.Pod.UID)
	if q.Old != nil {
		line += " old " + q.Old.Spec.Containers[0].Image
	}
	if q.Replaces != "" {
		line += " for " + string(q.Replaces)
	}
	j.asked = append(j.asked, line)
	v := pod.Verdict{Answer: pod.Allow, Sets: []string{j.set}, RetryAfter: j.retry}
	switch img := q.Pod.Spec.Containers[0].Image; {
	case img == "stuck":
		return
	case j.lenient:
	case strings.HasPrefix(img, "evil"):
		v.Answer, v.Reason, v.Message, v.Policy = pod.Deny, "Evil", img, "p"
	case strings.HasPrefix(img, "wait"):
		v.Answer, v.Reason, v.Message, v.Policy = pod.Hold, "Wait", img, "p"
	}
	if v.Answer == pod.Allow {
		instance, err := pod.Instance(q.Pod)
		if err != nil {
			panic(err)
		}
		j.allowed[instance] = true
	}
	j.answers = append(j.answers, func() { answer(v) })
	if !j.giving {
		j.giving = true
		j.pending.Go(j.give)
	}
}

func (j *judge) give() {
	for {
		j.mu.Lock()
		if len(j.answers) == 0 {
			j.giving = false
			j.mu.Unlock()
			return
		}
		next := j.answers[0]
		j.answers = j.answers[1:]
		j.mu.Unlock()
		next()
	}
}

// become makes the judge allow everything, or not, as another set would.
func (j *judge) become(lenient bool, set string) {
	j.mu.Lock()
	j.lenient, j.set = lenient, set
	j.mu.Unlock()
	j.changed <- struct{}{}
}

func (j *judge) questions() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	asked := j.asked
	j.asked = nil
	return asked
}

// board is a Waits that keeps what it is told.
type board struct {
	mu    sync.Mutex
	lines []string
	last  map[types.UID]pod.Waiting
}

func newBoard() *board { return &board{last: map[types.UID]pod.Waiting{}} }

func (b *board) Waits(w pod.Waiting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	shown := w.Pod.UID
	line := fmt.Sprintf("%s %s", w.Verdict.Answer, w.Pod.UID)
	if w.Running != nil {
		shown = w.Running.UID
		line += " beside " + string(w.Running.UID)
	}
	b.last[shown] = w
	b.lines = append(b.lines, line)
}

func (b *board) Passed(uid types.UID) { b.end("passed", uid) }
func (b *board) Gone(uid types.UID)   { b.end("gone", uid) }

func (b *board) end(how string, uid types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.last, uid)
	b.lines = append(b.lines, how+" "+string(uid))
}

func (b *board) told() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := b.lines
	b.lines = nil
	return lines
}

// gated is a running mux with a judge.
type gated struct {
	t     *testing.T
	mux   *Mux
	judge *judge
	board *board
	stop  func()
}

func startGated(t *testing.T, documents Documents, j *judge) *gated {
	t.Helper()
	return startStopping(t, documents, j, false)
}

func startStopping(t *testing.T, documents Documents, j *judge, stopDenied bool) *gated {
	t.Helper()
	g := &gated{t: t, judge: j, board: newBoard()}
	g.mux = New(Config{
		Sources:   []Source{{Name: "one", Kind: "file", Location: "/one"}, {Name: "two", Kind: "file", Location: "/two"}},
		Documents: documents, Logger: slog.New(slog.DiscardHandler), Now: time.Now, Gate: j, Waits: g.board, StopDenied: stopDenied,
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.mux.Run(ctx) }()
	g.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want it cancelled", err)
		}
		j.pending.Wait()
	})
	t.Cleanup(g.stop)
	return g
}

// got is what the sync loop was sent since it was last looked at.
func (g *gated) got() []string {
	g.t.Helper()
	synctest.Wait()
	var got []string
	for len(g.mux.Updates()) > 0 {
		for _, c := range (<-g.mux.Updates()).Changes {
			line := string(c.Op) + " " + string(c.Pod().UID)
			if c.Replaces != "" {
				line += " for " + string(c.Replaces)
			}
			if c.Verdict != nil && c.Verdict.Answer != pod.Allow {
				line += " " + string(c.Verdict.Answer)
			}
			got = append(got, line)
		}
	}
	return got
}

func (g *gated) deliver(source string, d ...pod.Document) {
	g.t.Helper()
	if err := mustSink(g.t, g.mux, source).Replace(g.t.Context(), d); err != nil {
		g.t.Fatal(err)
	}
}

// static makes a pod one of a file.
func static(p *v1.Pod) {
	p.Annotations[pod.AnnotationSource] = "one"
	p.Annotations[pod.AnnotationHash] = string(p.UID) + p.Spec.Containers[0].Image
}

func doc(id, name string, uid types.UID, img string, edits ...func(*v1.Pod)) pod.Document {
	return good(id, name, uid, append([]func(*v1.Pod){image(img), static}, edits...)...)
}

// gatedStep is one delivery, or a change of the policies, or time that passes,
// and what follows from it.
type gatedStep struct {
	docs    []pod.Document
	lenient *bool
	pass    time.Duration
	want    []string
	told    []string
	asked   []string
}

func TestWhatPolicyDecidesIsWhatTheSyncLoopGets(t *testing.T) {
	t.Parallel()
	yes, no := new(true), new(false)
	for name, steps := range map[string][]gatedStep{
		"an allowed pod passes with its verdict": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u1", "web:1"))},
		},
		"a denied pod is handed on as rejected": {
			{docs: docs(doc("a#0", "web", "u1", "evil")), want: ops("ADD u1 deny"), asked: ops("ADD u1")},
		},
		"a held pod waits and is told of": {
			{docs: docs(doc("a#0", "web", "u1", "wait")), told: ops("hold u1"), asked: ops("ADD u1")},
		},
		"a held pod is judged again after 10 s, doubling": {
			{docs: docs(doc("a#0", "web", "u1", "wait")), told: ops("hold u1"), asked: ops("ADD u1")},
			{pass: 9 * time.Second},
			{pass: 2 * time.Second, told: ops("hold u1"), asked: ops("ADD u1")},
			{pass: 18 * time.Second},
			{pass: 2 * time.Second, told: ops("hold u1"), asked: ops("ADD u1")},
		},
		"a held pod passes when the policies allow it": {
			{docs: docs(doc("a#0", "web", "u1", "wait")), told: ops("hold u1"), asked: ops("ADD u1")},
			{lenient: yes, want: ops("ADD u1"), told: ops("passed u1"), asked: ops("ADD u1")},
		},
		"a held pod that is removed is gone and was never sent": {
			{docs: docs(doc("a#0", "web", "u1", "wait")), told: ops("hold u1"), asked: ops("ADD u1")},
			{docs: docs(), told: ops("gone u1")},
		},
		"a held pod that is edited is another one": {
			{docs: docs(doc("a#0", "web", "u1", "wait")), told: ops("hold u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "web:1")), want: ops("ADD u2"), told: ops("gone u1"), asked: ops("ADD u2")},
		},
		"a denied pod is judged again when the policies change, and starts": {
			{docs: docs(doc("a#0", "web", "u1", "evil")), want: ops("ADD u1 deny"), asked: ops("ADD u1")},
			{lenient: no, asked: ops("ADD u1")},
			{lenient: yes, want: ops("REMOVE u1", "ADD u1"), asked: ops("ADD u1")},
		},
		"a denied pod whose document changes is judged as a new one": {
			{docs: docs(doc("a#0", "web", "u1", "evil")), want: ops("ADD u1 deny"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "web:1")), want: ops("REMOVE u1", "ADD u2"), asked: ops("ADD u2")},
		},
		"a denied pod with a fixed uid whose document changes is judged as a new one": {
			{docs: docs(doc("a#0", "web", "u1", "evil")), want: ops("ADD u1 deny"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("REMOVE u1", "ADD u1"), asked: ops("ADD u1")},
		},
		"a denied pod that is removed is removed": {
			{docs: docs(doc("a#0", "web", "u1", "evil")), want: ops("ADD u1 deny"), asked: ops("ADD u1")},
			{docs: docs(), want: ops("REMOVE u1")},
		},
		"an allowed replacement is judged once, with the old pod, and both halves pass": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "web:2")), want: ops("REMOVE u1 for u2", "ADD u2 for u1"), asked: ops("ADD u2 old web:1 for u1")},
		},
		"of a denied replacement neither half passes": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "evil")), told: ops("deny u2 beside u1"), asked: ops("ADD u2 old web:1 for u1")},
			{docs: docs(doc("a#0", "web", "u2", "evil"))},
			{pass: time.Hour},
		},
		"a denied replacement passes when the policies allow it": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "evil")), told: ops("deny u2 beside u1"), asked: ops("ADD u2 old web:1 for u1")},
			{lenient: yes, want: ops("REMOVE u1 for u2", "ADD u2 for u1"), told: ops("passed u1"), asked: ops("ADD u2 old web:1 for u1")},
		},
		"a denied replacement that is taken back leaves nothing": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "evil")), told: ops("deny u2 beside u1"), asked: ops("ADD u2 old web:1 for u1")},
			{docs: docs(doc("a#0", "web", "u1", "web:1")), told: ops("passed u1")},
			{lenient: yes},
		},
		"a denied replacement whose document goes takes the old pod with it": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "evil")), told: ops("deny u2 beside u1"), asked: ops("ADD u2 old web:1 for u1")},
			{docs: docs(), want: ops("REMOVE u1"), told: ops("passed u1")},
		},
		"a held replacement is judged again like any held pod": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "wait")), told: ops("hold u2 beside u1"), asked: ops("ADD u2 old web:1 for u1")},
			{pass: 11 * time.Second, told: ops("hold u2 beside u1"), asked: ops("ADD u2 old web:1 for u1")},
		},
		"a changed instance of a pod is judged as an update, with the old version": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u1", "web:2")), want: ops("UPDATE u1"), asked: ops("UPDATE u1 old web:1")},
		},
		"a denied update leaves the last admitted version in force": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u1", "evil")), told: ops("deny u1 beside u1"), asked: ops("UPDATE u1 old web:1")},
			{docs: docs(doc("a#0", "web", "u1", "web:3")), want: ops("UPDATE u1"), told: ops("passed u1"), asked: ops("UPDATE u1 old web:1")},
		},
		"deletion and status are never judged": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u1", "web:1", phase(v1.PodRunning))), want: ops("RECONCILE u1")},
			{docs: docs(doc("a#0", "web", "u1", "web:1", deleted)), want: ops("DELETE u1")},
		},
		"a document renamed to another pod keeps the old one until the new one is admitted": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "shop", "u2", "evil")), told: ops("deny u2 beside u1"), asked: ops("ADD u2 old web:1 for u1")},
			{lenient: yes, want: ops("REMOVE u1 for u2", "ADD u2 for u1"), told: ops("passed u1"), asked: ops("ADD u2 old web:1 for u1")},
		},
		"an old pod that another document brings back is no longer waited for": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "shop", "u2", "evil")), told: ops("deny u2 beside u1"), asked: ops("ADD u2 old web:1 for u1")},
			{
				docs: docs(doc("a#0", "shop", "u2", "evil"), doc("b#0", "web", "u3", "web:3")),
				want: ops("ADD u2 deny", "REMOVE u1 for u3", "ADD u3 for u1"), told: ops("passed u1"), asked: ops("ADD u3 old web:1 for u1"),
			},
		},
		"a document renamed twice keeps the pod that runs, too": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "shop", "u2", "evil")), told: ops("deny u2 beside u1"), asked: ops("ADD u2 old web:1 for u1")},
			{docs: docs(doc("a#0", "mart", "u3", "evil")), told: ops("passed u1", "deny u3 beside u1"), asked: ops("ADD u3 old web:1 for u1")},
			{docs: docs(doc("a#0", "mart", "u4", "web:4")), want: ops("REMOVE u1 for u4", "ADD u4 for u1"), told: ops("passed u1"), asked: ops("ADD u4 old web:1 for u1")},
		},
		"a document renamed to a pod that runs replaces that one": {
			{docs: docs(doc("a#0", "web", "u1", "web:1"), doc("b#0", "shop", "u2", "shop:1")), want: ops("ADD u1", "ADD u2"), asked: ops("ADD u1", "ADD u2")},
			{docs: docs(doc("a#0", "shop", "u3", "evil")), want: ops("REMOVE u1"), told: ops("deny u3 beside u2"), asked: ops("ADD u3 old shop:1 for u2")},
		},
		"what has no answer yet waits, and everything else passes it": {
			{docs: docs(doc("a#0", "web", "u1", "stuck"), doc("b#0", "db", "u2", "db:1")), want: ops("ADD u2"), asked: ops("ADD u1", "ADD u2")},
			{docs: docs(doc("a#0", "web", "u1", "stuck"), doc("b#0", "db", "u2", "db:1"), doc("c#0", "x", "u3", "x")), want: ops("ADD u3"), asked: ops("ADD u3")},
		},
		"an answer to a version that is not wanted any more is passed over": {
			{docs: docs(doc("a#0", "web", "u1", "stuck")), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "web:1")), want: ops("ADD u2"), asked: ops("ADD u2")},
			{lenient: yes},
		},
		"two pods may swap their uids, once both are judged": {
			{docs: docs(doc("a#0", "web", "u1", "i"), doc("b#0", "db", "u2", "i")), want: ops("ADD u1", "ADD u2"), asked: ops("ADD u1", "ADD u2")},
			{
				docs:  docs(doc("a#0", "web", "u2", "i"), doc("b#0", "db", "u1", "i")),
				want:  ops("REMOVE u1 for u2", "REMOVE u2 for u1", "ADD u2 for u1", "ADD u1 for u2"),
				asked: ops("ADD u2 old i for u1", "ADD u1 old i for u2"),
			},
		},
		"of two newcomers with one uid the first is judged and runs": {
			{docs: docs(doc("a#0", "web", "u1", "i"), doc("b#0", "db", "u1", "i")), want: ops("ADD u1"), asked: ops("ADD u1", "ADD u1")},
			{docs: docs(doc("b#0", "db", "u1", "i")), want: ops("REMOVE u1", "ADD u1")},
		},
		"a waiting pod with a fixed uid that is renamed is judged again": {
			{docs: docs(doc("a#0", "web", "u1", "wait:1")), told: ops("hold u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "shop", "u1", "evil")), want: ops("ADD u1 deny"), told: ops("gone u1"), asked: ops("ADD u1")},
		},
		"mirror pods are never judged": {
			{docs: docs(doc("a#0", "web", "u1", "evil", func(p *v1.Pod) { p.Annotations[pod.AnnotationMirror] = "x" })), want: ops("ADD u1")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playGated(t, steps, false)
		})
	}
}

// playGated plays the steps and holds what follows against them.
func playGated(t *testing.T, steps []gatedStep, stopDenied bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		j := newJudge()
		g := startStopping(t, newDisk(), j, stopDenied)
		for i, s := range steps {
			switch {
			case s.pass > 0:
				time.Sleep(s.pass)
			case s.lenient != nil:
				j.become(*s.lenient, fmt.Sprintf("s%d", i+2))
			default:
				g.deliver("one", s.docs...)
			}
			if diff := cmp.Diff(s.want, g.got()); diff != "" {
				t.Errorf("step %d, operations (-want +got):\n%s", i+1, diff)
			}
			if diff := cmp.Diff(s.told, g.board.told()); diff != "" {
				t.Errorf("step %d, told (-want +got):\n%s", i+1, diff)
			}
			if asked := j.questions(); !slices.Equal(asked, s.asked) {
				t.Errorf("step %d, asked %q, want %q", i+1, asked, s.asked)
			}
		}
		g.stop()
	})
}

func TestADeniedReplacementMayStopThePodThatRunsInAKubeletsOrder(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string][]gatedStep{
		"denied: the old pod ends, the new one is rejected": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "evil")), want: ops("REMOVE u1", "ADD u2 deny"), asked: ops("ADD u2 old web:1 for u1")},
		},
		"held: the old pod ends, the new one waits": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u2", "wait")), want: ops("REMOVE u1"), told: ops("hold u2"), asked: ops("ADD u2 old web:1 for u1")},
			{pass: 11 * time.Second, told: ops("hold u2"), asked: ops("ADD u2")},
		},
		"denied under another name: the old pod ends too": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "shop", "u2", "evil")), want: ops("REMOVE u1", "ADD u2 deny"), asked: ops("ADD u2 old web:1 for u1")},
		},
		"a changed instance is no replacement: a denied update stops nothing": {
			{docs: docs(doc("a#0", "web", "u1", "web:1")), want: ops("ADD u1"), asked: ops("ADD u1")},
			{docs: docs(doc("a#0", "web", "u1", "evil")), told: ops("deny u1 beside u1"), asked: ops("UPDATE u1 old web:1")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playGated(t, steps, true)
		})
	}
}

func TestARestartReusesWhatWasDecided(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before, then []pod.Document // snapshots before the restart
		lenient      bool           // whether the policies allow everything after it
		after        []pod.Document // the first snapshot after it
		restored     []string       // before that snapshot
		asked        []string
		want         []string // after it
		askedAfter   []string
	}{
		"an admitted pod is handed on without asking anybody": {
			before: docs(doc("a#0", "web", "u1", "web:1")), after: docs(doc("a#0", "web", "u1", "web:1")),
			restored: ops("RESTORE u1"),
		},
		"a rejected pod is rejected again, and judged again": {
			before: docs(doc("a#0", "web", "u1", "evil")), after: docs(doc("a#0", "web", "u1", "evil")),
			restored: ops("RESTORE u1 deny"), asked: ops("ADD u1"),
		},
		"a rejected pod starts when the policies allow it now": {
			before: docs(doc("a#0", "web", "u1", "evil")), after: docs(doc("a#0", "web", "u1", "evil")), lenient: true,
			restored: ops("RESTORE u1 deny", "REMOVE u1", "ADD u1"), asked: ops("ADD u1"),
		},
		"a held pod is judged as if it were new": {
			before: docs(doc("a#0", "web", "u1", "wait")), after: docs(doc("a#0", "web", "u1", "wait")),
			asked: ops("ADD u1"),
		},
		"the last admitted version goes on where its replacement was denied": {
			before: docs(doc("a#0", "web", "u1", "web:1")), then: docs(doc("a#0", "web", "u2", "evil")), after: docs(doc("a#0", "web", "u2", "evil")),
			restored: ops("RESTORE u1"), asked: ops("ADD u2 old web:1 for u1"),
		},
		"the last admitted version goes on where its update was denied": {
			before: docs(doc("a#0", "web", "u1", "web:1")), then: docs(doc("a#0", "web", "u1", "evil")), after: docs(doc("a#0", "web", "u1", "evil")),
			restored: ops("RESTORE u1"), asked: ops("UPDATE u1 old web:1"),
		},
		"so does the pod of a document that was renamed to a denied one": {
			before: docs(doc("a#0", "web", "u1", "web:1")), then: docs(doc("a#0", "shop", "u2", "evil")), after: docs(doc("a#0", "shop", "u2", "evil")),
			restored: ops("RESTORE u1"), asked: ops("ADD u2 old web:1 for u1"),
		},
		"and it ends when that document is gone": {
			before: docs(doc("a#0", "web", "u1", "web:1")), then: docs(doc("a#0", "shop", "u2", "evil")), after: docs(),
			restored: ops("RESTORE u1"), asked: ops("ADD u2 old web:1 for u1"), want: ops("REMOVE u1"),
		},
		"a pod of a known uid keeps the last admitted version where the edit clashed": {
			before:   docs(doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u2", "db:1")),
			then:     docs(doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u1", "db:2")),
			after:    docs(doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u1", "db:2")),
			restored: ops("RESTORE u1", "RESTORE u2"), asked: ops("ADD u1 old db:1 for u2"),
		},
		"the last admitted version goes on for what its document stands for now, not in the way of what came after it": {
			before:   docs(doc("a#0", "web", "u1", "web:1", identity("x"))),
			then:     docs(doc("a#0", "web", "u1", "evil", identity("y")), doc("b#0", "x", "u2", "x:1")),
			after:    docs(doc("a#0", "web", "u1", "evil", identity("y")), doc("b#0", "x", "u2", "x:1")),
			restored: ops("RESTORE u1", "RESTORE u2"), asked: ops("UPDATE u1 old web:1"),
		},
		"an instance that changed while the agent was away is judged": {
			before: docs(doc("a#0", "web", "u1", "web:1")), after: docs(doc("a#0", "web", "u1", "web:2")),
			restored: ops("RESTORE u1"), want: ops("UPDATE u1"), askedAfter: ops("UPDATE u1 old web:1"),
		},
		"a newer agent's defaults are no change of the instance": {
			before:   docs(doc("a#0", "web", "u1", "web:1")),
			after:    docs(sameVersion(doc("a#0", "web", "u1", "web:1"), func(p *v1.Pod) { p.Spec.SchedulerName = "default" })),
			restored: ops("RESTORE u1"), want: ops("UPDATE u1"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDisk()
				first := startGated(t, d, newJudge())
				first.deliver("one", tc.before...)
				first.got()
				if tc.then != nil {
					first.deliver("one", tc.then...)
					first.got()
				}
				first.stop()
				j := newJudge()
				j.lenient = tc.lenient
				second := startGated(t, d, j)
				if diff := cmp.Diff(tc.restored, second.got()); diff != "" {
					t.Errorf("restored (-want +got):\n%s", diff)
				}
				if asked := j.questions(); !slices.Equal(asked, tc.asked) {
					t.Errorf("asked at the start %q, want %q", asked, tc.asked)
				}
				second.deliver("one", tc.after...)
				if diff := cmp.Diff(tc.want, second.got()); diff != "" {
					t.Errorf("after the first snapshot (-want +got):\n%s", diff)
				}
				if asked := j.questions(); !slices.Equal(asked, tc.askedAfter) {
					t.Errorf("asked after the first snapshot %q, want %q", asked, tc.askedAfter)
				}
			})
		})
	}
}

func TestAVerdictIsOnTheDiskBeforeItTakesEffect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		g := startGated(t, d, newJudge())
		g.deliver("one", doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u2", "evil"))
		g.got()
		for id, want := range map[string]pod.Answer{"a#0": pod.Allow, "b#0": pod.Deny} {
			if r := d.of("one", id); r.Decided == nil || r.Decided.Verdict == nil || r.Decided.Verdict.Answer != want {
				t.Errorf("%s: stored %+v, want the verdict %s", id, r.Decided, want)
			}
		}
		if diff := cmp.Diff([]string{"a#0", "b#0", "a#0", "b#0"}, d.puts); diff != "" {
			t.Errorf("writes, each document and then its verdict (-want +got):\n%s", diff)
		}
		g.judge.become(false, "s2")
		g.got()
		if r := d.of("one", "b#0"); !slices.Equal(r.Decided.Verdict.Sets, []string{"s2"}) {
			t.Errorf("a verdict that was given again names the sets %q, want the new one", r.Decided.Verdict.Sets)
		}
	})
}

func TestAVerdictThatCannotBeWrittenTakesNoEffect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		g := startGated(t, d, newJudge())
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		g.got()
		d.fill(errors.New("no space left on device"))
		g.deliver("one", doc("a#0", "web", "u2", "web:2"), doc("b#0", "db", "u3", "evil"), doc("c#0", "x", "u4", "x:1"))
		if got := g.got(); got != nil {
			t.Errorf("operations %q although nothing could be written", got)
		}
		if diff := cmp.Diff(ops("hold u2 beside u1", "hold u3", "hold u4"), g.board.told()); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		if w := g.board.last["u4"]; w.Verdict.Reason != pod.ReasonVerdictNotKept || !strings.Contains(w.Verdict.Message, "no space left") {
			t.Errorf("it waits because of %+v", w.Verdict)
		}
		d.fill(nil)
		time.Sleep(11 * time.Second)
		if diff := cmp.Diff(ops("REMOVE u1 for u2", "ADD u2 for u1", "ADD u3 deny", "ADD u4"), flat(g.got())); diff != "" {
			t.Errorf("operations once it can be written (-want +got):\n%s", diff)
		}
	})
}

func TestADiskThatIsFullStopsNoPodEvenWhereADeniedReplacementWould(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		g := startStopping(t, d, newJudge(), true)
		g.deliver("one", doc("a#0", "web", "u1", "web:1"))
		g.got()
		d.fill(errors.New("no space left on device"))
		g.deliver("one", doc("a#0", "web", "u2", "evil"))
		if got := g.got(); got != nil {
			t.Errorf("operations %q although nothing could be written", got)
		}
		d.fill(nil)
		time.Sleep(11 * time.Second)
		if diff := cmp.Diff(ops("REMOVE u1", "ADD u2 deny"), g.got()); diff != "" {
			t.Errorf("operations once it can be written (-want +got):\n%s", diff)
		}
		if r := d.of("one", "a#0"); r.Decided == nil || r.Decided.Verdict.Answer != pod.Deny {
			t.Errorf("stored %+v, want the rejection", r.Decided)
		}
	})
}

// flat orders operations of several updates as if they were one.
func flat(ops []string) []string {
	slices.SortStableFunc(ops, func(a, b string) int { return rank[opOf(a)] - rank[opOf(b)] })
	return ops
}

func opOf(line string) pod.Op {
	op, _, _ := strings.Cut(line, " ")
	return pod.Op(op)
}

func TestWhatWaitsIsWanted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := startGated(t, newDisk(), newJudge())
		g.deliver("one", doc("a#0", "web", "u1", "web:1"), doc("b#0", "db", "u2", "wait"), doc("c#0", "x", "u3", "stuck"))
		g.got()
		g.deliver("one", doc("a#0", "web", "u9", "evil"), doc("b#0", "db", "u2", "wait"), doc("c#0", "x", "u3", "stuck"))
		g.got()
		for _, uid := range []types.UID{"u1", "u2", "u3"} {
			if !g.mux.Wanted(uid) {
				t.Errorf("%s is not wanted, so a clean-up may end it", uid)
			}
		}
		var shown []string
		for _, d := range g.mux.Pods() {
			shown = append(shown, string(d.Pod.UID))
		}
		slices.Sort(shown)
		if diff := cmp.Diff([]string{"u1", "u2", "u3"}, shown); diff != "" {
			t.Errorf("pods, each once and none that is not to be seen yet (-want +got):\n%s", diff)
		}
		g.deliver("one")
		if got := g.got(); !slices.Equal(got, ops("REMOVE u1")) {
			t.Errorf("operations %q, want only what was sent to be removed", got)
		}
		if g.mux.Wanted("u2") || g.mux.Wanted("u9") || len(g.mux.Pods()) != 0 {
			t.Error("what is gone is still wanted")
		}
	})
}

func TestAVerdictMayNameWhenItWantsToBeAskedAgain(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ named, early, late time.Duration }{
		{time.Millisecond, 900 * time.Millisecond, 200 * time.Millisecond},
		{time.Minute, 59 * time.Second, 2 * time.Second},
		{time.Hour, 10*time.Minute - time.Second, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			j := newJudge()
			j.retry = tc.named
			g := startGated(t, newDisk(), j)
			g.deliver("one", doc("a#0", "web", "u1", "wait"))
			g.got()
			j.questions()
			time.Sleep(tc.early)
			synctest.Wait()
			if asked := j.questions(); asked != nil {
				t.Errorf("%s named: asked %q after %s", tc.named, asked, tc.early)
			}
			time.Sleep(tc.late)
			synctest.Wait()
			if asked := j.questions(); len(asked) != 1 {
				t.Errorf("%s named: asked %q after %s, want once", tc.named, asked, tc.early+tc.late)
			}
		})
	}
}
