package status

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

var (
	_ Recorder = (*Ring)(nil)
	_ Recorder = (*Log)(nil)
	_ Recorder = Multi(nil)
)

// brief is an event as "reason/message xcount".
func brief(events []Event) string {
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
			r := NewRing(3, 10*time.Minute, func() time.Time { return now })
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
	r := NewRing(3, time.Hour, func() time.Time { return now })
	p := testPod(v1.RestartPolicyAlways, "file")
	r.Event(p, v1.EventTypeWarning, "BackOff", "again")
	before := r.List()
	now = noon.Add(time.Minute)
	r.Event(p, v1.EventTypeWarning, "BackOff", "again")

	want := Event{
		Seq: 2, Began: 1, First: noon, Last: now, Count: 2, Type: "Warning", Reason: "BackOff", Message: "again",
		Namespace: "shop", Name: "web", UID: "u1", Source: "file",
	}
	if d := cmp.Diff([]Event{want}, r.List()); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	if before[0].Count != 1 {
		t.Error("a list that was handed out has changed")
	}
}

func TestLogWritesAnEventAsOneLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := NewLog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
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
		l := NewLog(slog.New(slog.NewTextHandler(&out, nil)))
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
	a, b := NewRing(3, 0, now), NewRing(3, 0, now)
	Multi{a, b}.Event(testPod(v1.RestartPolicyAlways, ""), v1.EventTypeNormal, "R", "m")
	if brief(a.List()) != "u1/R/m x1" || brief(b.List()) != "u1/R/m x1" {
		t.Errorf("a has %q, b has %q", brief(a.List()), brief(b.List()))
	}
}
