package status

import (
	"bytes"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

var (
	_ Recorder = (*EventBuffer)(nil)
	_ Recorder = (*LogRecorder)(nil)
	_ Recorder = MultiRecorder(nil)
)

// brief returns events as "UID/reason/message xcount".
func brief(events []api.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.UID)+"/"+e.Reason+"/"+e.Message+" x"+string(rune('0'+e.Count)))
	}
	return strings.Join(out, ", ")
}

func TestRing(t *testing.T) {
	t.Parallel()
	type step struct {
		minute          int
		uid             types.UID
		reason, message string
	}
	tests := []struct {
		name  string
		steps []step
		want  string
	}{
		{"newest last", []step{{0, "u", "A", ""}, {1, "u", "B", ""}}, "u/A/ x1, u/B/ x1"},
		{"the oldest goes when there is no more room", []step{{0, "u", "A", ""}, {0, "u", "B", ""}, {0, "u", "C", ""}, {0, "u", "D", ""}}, "u/B/ x1, u/C/ x1, u/D/ x1"},
		{"a repeat counts and becomes the newest", []step{{0, "u", "A", "m"}, {1, "u", "B", ""}, {2, "u", "A", "m"}}, "u/B/ x1, u/A/m x2"},
		{"a repeat takes no place", []step{{0, "u", "A", ""}, {0, "u", "B", ""}, {0, "u", "C", ""}, {0, "u", "A", ""}}, "u/B/ x1, u/C/ x1, u/A/ x2"},
		{"each repeat prolongs the window", []step{{0, "u", "A", ""}, {8, "u", "A", ""}, {16, "u", "A", ""}}, "u/A/ x3"},
		{"after the window it is a new event", []step{{0, "u", "A", ""}, {11, "u", "A", ""}}, "u/A/ x1, u/A/ x1"},
		{"another pod is another event", []step{{0, "u", "A", ""}, {0, "v", "A", ""}}, "u/A/ x1, v/A/ x1"},
		{"another message is another event", []step{{0, "u", "A", "m"}, {0, "u", "A", "n"}}, "u/A/m x1, u/A/n x1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			now := noon
			r := NewEventBuffer(3, 10*time.Minute, func() time.Time { return now })
			p := testPod(v1.RestartPolicyAlways, "file")
			for _, s := range tt.steps {
				now = noon.Add(time.Duration(s.minute) * time.Minute)
				p.UID = s.uid
				r.Event(p, v1.EventTypeNormal, s.reason, s.message)
			}
			if got := brief(r.List()); got != tt.want {
				t.Errorf("events = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestRingTellsAllThereIsToKnow(t *testing.T) {
	t.Parallel()
	now := noon
	r := NewEventBuffer(3, time.Hour, func() time.Time { return now })
	p := testPod(v1.RestartPolicyAlways, "file")
	r.Event(p, v1.EventTypeWarning, "BackOff", "again")
	before := r.List()
	now = noon.Add(time.Minute)
	r.Event(p, v1.EventTypeWarning, "BackOff", "again")

	want := api.Event{
		Seq: 2, FirstSeq: 1, First: noon, Last: now, Count: 2, Type: "Warning", Reason: "BackOff", Message: "again",
		Namespace: "shop", Name: "web", UID: "u1", Source: "file",
	}
	if d := cmp.Diff([]api.Event{want}, r.List()); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	if before[0].Count != 1 {
		t.Error("a list that was handed out has changed")
	}
}

func TestLogWritesAnEventAsOneLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := NewLogRecorder(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})))
	p := testPod(v1.RestartPolicyAlways, "file")
	l.Event(p, v1.EventTypeNormal, "Started", "container a")
	l.Event(p, v1.EventTypeWarning, "BackOff", "container b")
	want := `level=INFO msg="pod event" pod=shop/web uid=u1 source=file reason=Started message="container a"
level=WARN msg="pod event" pod=shop/web uid=u1 source=file reason=BackOff message="container b"
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("log (-want +got):\n%s", d)
	}
}

func TestAWarningThatRepeatsIsLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		l := NewLogRecorder(slog.New(slog.NewTextHandler(&out, nil)))
		p, other := testPod(v1.RestartPolicyAlways, "file"), testPod(v1.RestartPolicyAlways, "file")
		other.UID = "u2"
		for _, step := range []struct {
			what                  string
			p                     *v1.Pod
			kind, reason, message string
			after                 time.Duration
			want                  int
		}{
			{"the first", p, v1.EventTypeWarning, "FailedMount", "no disk", 0, 1},
			{"the same", p, v1.EventTypeWarning, "FailedMount", "no disk", 59 * time.Second, 0},
			{"another pod's", other, v1.EventTypeWarning, "FailedMount", "no disk", 0, 1},
			{"another reason's", p, v1.EventTypeWarning, "FailedSync", "no disk", 0, 1},
			{"another message", p, v1.EventTypeWarning, "FailedMount", "no room", 0, 1},
			{"the same but for a number", p, v1.EventTypeWarning, "FailedMount", "no room after 20s", 0, 1},
			{"the same but for another number", p, v1.EventTypeWarning, "FailedMount", "no room after 40s", 0, 0},
			{"of one image", p, v1.EventTypeWarning, "Failed", `pull image "reg/app1": not found`, 0, 1},
			{"of another image", p, v1.EventTypeWarning, "Failed", `pull image "reg/app2": not found`, 0, 1},
			{"the same a minute later", p, v1.EventTypeWarning, "FailedMount", "no disk", time.Second, 1},
			{"what is no warning", p, v1.EventTypeNormal, "Started", "container a", 0, 1},
			{"the same that is no warning", p, v1.EventTypeNormal, "Started", "container a", 0, 1},
		} {
			time.Sleep(step.after)
			out.Reset()
			l.Event(step.p, step.kind, step.reason, step.message)
			if got := bytes.Count(out.Bytes(), []byte("pod event")); got != step.want {
				t.Errorf("%s is logged %d times, want %d", step.what, got, step.want)
			}
		}
	})
}

func TestMultiTellsEveryRecorder(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return noon }
	a, b := NewEventBuffer(3, 0, now), NewEventBuffer(3, 0, now)
	MultiRecorder{a, b}.Event(testPod(v1.RestartPolicyAlways, ""), v1.EventTypeNormal, "R", "m")
	if brief(a.List()) != "u1/R/m x1" || brief(b.List()) != "u1/R/m x1" {
		t.Errorf("a has %q, b has %q", brief(a.List()), brief(b.List()))
	}
}

// annotated is a recorder that can record the annotations of an event.
type annotated struct{ plain }

func (a *annotated) AnnotatedEvent(_ *v1.Pod, annotations map[string]string, _, reason, _ string) {
	a.plain = append(a.plain, reason+" "+annotations["key"])
}

// Each recorder receives an event with annotations once, without them if it cannot record any.
func TestAnnotatedEvent(t *testing.T) {
	t.Parallel()
	var with annotated
	var without plain
	AnnotatedEvent(MultiRecorder{&with, MultiRecorder{&without}}, testPod(v1.RestartPolicyAlways, ""), map[string]string{"key": "value"}, v1.EventTypeNormal, "R", "m")
	if diff := cmp.Diff([]plain{{"R value"}, {"R m"}}, []plain{with.plain, without}); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// containers is a recorder that can record the container of an event.
type containers []string

func (c *containers) Event(_ *v1.Pod, _, reason, _ string) { *c = append(*c, reason) }

func (c *containers) ContainerEvent(_ *v1.Pod, container, _, reason, _ string) {
	*c = append(*c, container+" "+reason)
}

// plain is a recorder that cannot record the container of an event.
type plain []string

func (r *plain) Event(_ *v1.Pod, _, reason, message string) { *r = append(*r, reason+" "+message) }

// Each recorder receives an event about a container once. It receives the container, too, if it can
// record one.
func TestContainerEvent(t *testing.T) {
	t.Parallel()
	var with containers
	var without plain
	p := testPod(v1.RestartPolicyAlways, "")
	ContainerEvent(MultiRecorder{&with, MultiRecorder{&without}}, p, "app", v1.EventTypeNormal, "R", "m")
	ContainerEvent(&without, p, "app", v1.EventTypeNormal, "S", "m")
	if diff := cmp.Diff(containers{"app R"}, with); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(plain{"R m", "S m"}, without); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestEventBuffer_tellsContainersApart(t *testing.T) {
	t.Parallel()
	r := NewEventBuffer(9, time.Hour, func() time.Time { return noon })
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u"}, Spec: v1.PodSpec{
		InitContainers: []v1.Container{{Name: "setup"}}, Containers: []v1.Container{{Name: "app"}},
		EphemeralContainers: []v1.EphemeralContainer{{EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "debug"}}},
	}}
	for _, container := range []string{"app", "setup", "debug", "another", "app"} {
		r.ContainerEvent(p, container, v1.EventTypeWarning, "Unhealthy", "m")
	}
	r.Event(p, v1.EventTypeWarning, "Unhealthy", "m")
	got := map[string]int{}
	for _, e := range r.List() {
		got[e.FieldPath] += e.Count
	}
	want := map[string]int{"spec.containers{app}": 2, "spec.initContainers{setup}": 1, "spec.ephemeralContainers{debug}": 1, "": 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// tenants returns the owner of a namespace: the part of its name before the dash.
func tenants(namespace string) string {
	tenant, _, owned := strings.Cut(namespace, "-")
	if !owned {
		return ""
	}
	return tenant
}

func TestRingKeepsAShareForEveryOwner(t *testing.T) {
	t.Parallel()
	now := noon
	r := NewEventBufferPerOwner(3, time.Hour, func() time.Time { return now }, tenants)
	say := func(namespace, message string) {
		p := testPod(v1.RestartPolicyAlways, "")
		p.Namespace = namespace
		r.Event(p, v1.EventTypeNormal, "R", message)
		now = now.Add(time.Second)
	}
	say("a-web", "1")
	say("default", "2")
	say("b-web", "3")
	say("kube-system", "4")
	for i := range 1000 { // many events in two namespaces of one tenant
		say([]string{"a-web", "a-db"}[i%2], "flood "+strconv.Itoa(i))
	}
	want := "u1/R/2 x1, u1/R/3 x1, u1/R/4 x1, u1/R/flood 997 x1, u1/R/flood 998 x1, u1/R/flood 999 x1"
	if got := brief(r.List()); got != want {
		t.Errorf("events = %s, want %s", got, want)
	}
}

func TestRingNumbersWhatHappens(t *testing.T) {
	t.Parallel()
	r := NewEventBufferPerOwner(10, time.Hour, func() time.Time { return noon }, tenants)
	p := testPod(v1.RestartPolicyAlways, "")
	for _, reason := range []string{"A", "B", "A"} {
		r.Event(p, v1.EventTypeNormal, reason, "")
	}
	got := r.List()
	if len(got) != 2 || got[0].Reason != "B" || got[0].Seq != 2 || got[1].Reason != "A" || got[1].Seq != 3 || got[1].Count != 2 {
		t.Errorf("events: %+v", got)
	}
}

func TestRingKeepsSoMuchOfAMessage(t *testing.T) {
	t.Parallel()
	r := NewEventBuffer(10, time.Hour, func() time.Time { return noon })
	p := testPod(v1.RestartPolicyAlways, "")
	for _, letter := range []string{"x", "é"} {
		for _, length := range []int{1024, 1025, 2000, 3000} {
			r.Event(p, v1.EventTypeNormal, "R", strings.Repeat(letter, length))
		}
	}
	got := r.List()
	if len(got) != 4 {
		t.Fatalf("%d events, want 4: those that are too long are the same", len(got))
	}
	for i, want := range []string{
		strings.Repeat("x", 1024), strings.Repeat("x", 1021) + "...", strings.Repeat("é", 1024), strings.Repeat("é", 1021) + "...",
	} {
		if got[i].Message != want || got[i].Count != 1+2*(i%2) {
			t.Errorf("event %d has %d bytes and was %d times", i, len(got[i].Message), got[i].Count)
		}
	}
}

func TestRingTellsListeners(t *testing.T) {
	t.Parallel()
	r := NewEventBuffer(3, time.Hour, func() time.Time { return noon })
	changed, stop := r.Listen()
	defer stop()
	for range 2 { // a repeated event is a change, too
		r.Event(testPod(v1.RestartPolicyAlways, ""), v1.EventTypeNormal, "R", "m")
		if !told(changed) {
			t.Error("a listener was not told")
		}
	}
}

// told reports whether a listener has been notified.
func told(changed <-chan struct{}) bool {
	select {
	case <-changed:
		return true
	default:
		return false
	}
}

func TestNotifierTellsEveryListenerOnceHoweverMuchHasChanged(t *testing.T) {
	t.Parallel()
	var n Notifier
	n.Notify() // without a listener
	a, stopA := n.Listen()
	b, stopB := n.Listen()
	if told(a) || told(b) {
		t.Error("a listener was told of what changed before")
	}
	for range 3 {
		n.Notify()
	}
	if !told(a) || told(a) || !told(b) {
		t.Error("want one value for each listener")
	}
	stopA()
	stopA()
	n.Notify()
	if told(a) || !told(b) {
		t.Error("a listener that stopped was told, or one that did not was not")
	}
	stopB()
	if n.count.Load() != 0 || len(n.listeners) != 0 {
		t.Error("a listener is left")
	}
}

func TestNotifierLosesNothingThatChangesAfterListen(t *testing.T) {
	t.Parallel()
	var n Notifier
	var running sync.WaitGroup
	defer running.Wait()
	for range 4 {
		running.Go(func() {
			for range 200 {
				changed, stop := n.Listen()
				n.Notify()
				<-changed
				stop()
			}
		})
	}
}
