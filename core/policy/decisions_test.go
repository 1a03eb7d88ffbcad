package policy

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/pod"
)

func decisionOf(name string, at int, change ...func(*pod.Decision)) pod.Decision {
	when := instant.Add(time.Duration(at) * time.Second)
	d := pod.Decision{
		First: when, Last: when, Count: 1, Op: pod.Add, Name: name, UID: "uid", Instance: name,
		Verdict: pod.Verdict{Answer: pod.Deny, Reason: "No", Message: "no", At: when},
	}
	for _, f := range change {
		f(&d)
	}
	return d
}

func TestAnEqualDecisionOnAnEqualInstanceOnlyCounts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*pod.Decision)
		counts bool
	}{
		"the same":                       {func(*pod.Decision) {}, true},
		"by another set":                 {func(d *pod.Decision) { d.Verdict.Sets = []string{"2"} }, true},
		"with another opinion beside it": {func(d *pod.Decision) { d.Verdict.Opinions = []pod.Opinion{{Policy: "p"}} }, true},
		"of another instance":            {func(d *pod.Decision) { d.Instance = "c" }, false},
		"of another pod":                 {func(d *pod.Decision) { d.UID = "b" }, false},
		"of another operation":           {func(d *pod.Decision) { d.Op = pod.UpdateOp }, false},
		"that replaces another":          {func(d *pod.Decision) { d.Replaces = "b" }, false},
		"another answer":                 {func(d *pod.Decision) { d.Verdict.Answer = pod.Hold }, false},
		"another message":                {func(d *pod.Decision) { d.Verdict.Message = "never" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d decisions
			again := decisionOf("a", 2, test.change)
			d.add(decisionOf("a", 0))
			d.add(decisionOf("b", 1))
			d.add(again)
			want := []pod.Decision{decisionOf("a", 0), decisionOf("b", 1), again}
			if test.counts {
				again.First, again.Count = instant, 2
				want = []pod.Decision{decisionOf("b", 1), again}
			}
			if diff := cmp.Diff(want, d.newest()); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("without an instance nothing is equal", func(t *testing.T) {
		t.Parallel()
		var d decisions
		for range 2 {
			d.add(decisionOf("", 0))
		}
		if got := d.newest(); len(got) != 2 {
			t.Errorf("%d decisions, want 2", len(got))
		}
	})
}

func TestTheNewestDecisionsAreKept(t *testing.T) {
	t.Parallel()
	var d decisions
	for i := range maxDecisions + 10 {
		d.add(decisionOf(strconv.Itoa(i), i))
	}
	got := d.newest()
	if len(got) != 500 || got[0].Name != "10" || got[499].Name != "509" {
		t.Errorf("%d decisions from %s to %s", len(got), got[0].Name, got[len(got)-1].Name)
	}
}

func TestDecisionsOfPluginsThatWriteMuchTakeNoMoreMemory(t *testing.T) {
	t.Parallel()
	var d decisions
	text := strings.Repeat("x", 1<<18)
	fill := []func(*pod.Opinion){
		func(o *pod.Opinion) { o.Message = text },
		func(o *pod.Opinion) { o.Explanation = text },
		func(o *pod.Opinion) { o.Warnings = []string{text} },
		func(o *pod.Opinion) { o.Annotations = map[string]string{"k": text} },
	}
	for i := range 100 {
		var o pod.Opinion
		fill[i%len(fill)](&o)
		d.add(decisionOf(strconv.Itoa(i), i, func(d *pod.Decision) { d.Verdict.Opinions = []pod.Opinion{o} }))
	}
	if got := d.newest(); len(got) != 15 || got[14].Name != "99" {
		t.Errorf("%d decisions are kept, want 15", len(got))
	}
	d.add(decisionOf("huge", 0, func(d *pod.Decision) { d.Verdict.Message = strings.Repeat(text, 20) }))
	if got := d.newest(); len(got) != 1 || got[0].Name != "huge" {
		t.Errorf("%d decisions are kept, want the newest", len(got))
	}
	for i := range maxDecisions {
		d.add(decisionOf(strconv.Itoa(i), i))
	}
	if got := d.newest(); len(got) != maxDecisions || d.text != maxDecisions*len("no") {
		t.Errorf("%d decisions with %d bytes of text are kept", len(got), d.text)
	}
}
