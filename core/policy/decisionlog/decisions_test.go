package decisionlog

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/internal/policytest"
)

func decisionOf(name string, at int, change ...func(*api.Decision)) api.Decision {
	when := policytest.Instant.Add(time.Duration(at) * time.Second)
	d := api.Decision{
		First: when, Last: when, Count: 1, Op: api.Add, Name: name, UID: "uid", Instance: name,
		Verdict: api.Verdict{Answer: api.Deny, Reason: "No", Message: "no", At: when},
	}
	for _, f := range change {
		f(&d)
	}
	return d
}

func put(to *Decisions, d api.Decision) { to.add(d, KeyOf(&d)) }

func TestAnEqualDecisionOnAnEqualInstanceOnlyCounts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*api.Decision)
		counts bool
	}{
		"the same":                              {func(*api.Decision) {}, true},
		"by another set":                        {func(d *api.Decision) { d.Verdict.Sets = []string{"2"} }, false},
		"with another opinion beside it":        {func(d *api.Decision) { d.Verdict.Opinions = []api.Opinion{{Policy: "p"}} }, false},
		"held in other words, which was denied": {func(d *api.Decision) { d.Verdict.Answer, d.Verdict.Message = api.Hold, "x" }, false},
		"explained in other words":              {func(d *api.Decision) { d.Verdict.RetryAfter = 1 }, true},
		"of another instance":                   {func(d *api.Decision) { d.Instance = "c" }, false},
		"of another pod":                        {func(d *api.Decision) { d.UID = "b" }, false},
		"of another operation":                  {func(d *api.Decision) { d.Op = api.UpdateOp }, false},
		"that replaces another":                 {func(d *api.Decision) { d.Replaces = "b" }, false},
		"another answer":                        {func(d *api.Decision) { d.Verdict.Answer = api.Hold }, false},
		"another message":                       {func(d *api.Decision) { d.Verdict.Message = "never" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d Decisions
			again := decisionOf("a", 2, test.change)
			put(&d, decisionOf("a", 0))
			put(&d, decisionOf("b", 1))
			put(&d, again)
			want := []api.Decision{decisionOf("a", 0), decisionOf("b", 1), again}
			if test.counts {
				again.First, again.Count = policytest.Instant, 2
				want = []api.Decision{decisionOf("b", 1), again}
			}
			if diff := cmp.Diff(want, d.Newest()); diff != "" {
				t.Errorf("decisions (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("without an instance nothing is equal", func(t *testing.T) {
		t.Parallel()
		var d Decisions
		for range 2 {
			put(&d, decisionOf("", 0))
		}
		if got := d.Newest(); len(got) != 2 {
			t.Errorf("%d decisions, want 2", len(got))
		}
	})
}

func TestTheNewestDecisionsAreKept(t *testing.T) {
	t.Parallel()
	var d Decisions
	for i := range maxDecisions + 10 {
		put(&d, decisionOf(strconv.Itoa(i), i))
	}
	got := d.Newest()
	if len(got) != 1000 || got[0].Name != "10" || got[999].Name != "1009" {
		t.Errorf("%d decisions from %s to %s", len(got), got[0].Name, got[len(got)-1].Name)
	}
}

func TestDecisionsOfPluginsThatWriteMuchTakeNoMoreMemory(t *testing.T) {
	t.Parallel()
	var d Decisions
	text := strings.Repeat("x", 1<<18)
	fill := []func(*api.Opinion){
		func(o *api.Opinion) { o.Message = text },
		func(o *api.Opinion) { o.Explanation = text },
		func(o *api.Opinion) { o.Warnings = []string{text} },
		func(o *api.Opinion) { o.Annotations = map[string]string{"k": text} },
	}
	for i := range 100 {
		var o api.Opinion
		fill[i%len(fill)](&o)
		put(&d, decisionOf(strconv.Itoa(i), i, func(d *api.Decision) { d.Verdict.Opinions = []api.Opinion{o} }))
	}
	if got := d.Newest(); len(got) != 15 || got[14].Name != "99" {
		t.Errorf("%d decisions are kept, want 15", len(got))
	}
	put(&d, decisionOf("huge", 0, func(d *api.Decision) { d.Verdict.Message = strings.Repeat(text, 20) }))
	if got := d.Newest(); len(got) != 1 || got[0].Name != "huge" {
		t.Errorf("%d decisions are kept, want the newest", len(got))
	}
	for i := range maxDecisions {
		put(&d, decisionOf(strconv.Itoa(i), i))
	}
	if got := d.Newest(); len(got) != maxDecisions || d.text != maxDecisions*len("no") {
		t.Errorf("%d decisions with %d bytes of text are kept", len(got), d.text)
	}
}

func TestAHoldInOtherWordsOnlyCounts(t *testing.T) {
	t.Parallel()
	for answer, counts := range map[api.Answer]bool{
		api.Hold: true, api.Answer(api.Defer): true, api.Answer(api.Drop): true, api.Deny: false, api.Allow: false, api.Answer(api.Pass): false,
	} {
		var d Decisions
		for i := range 3 {
			put(&d, decisionOf("a", i, func(d *api.Decision) { d.Verdict.Answer, d.Verdict.Message = answer, strconv.Itoa(i) }))
		}
		got := d.Newest()
		if last := got[len(got)-1]; (len(got) == 1) != counts || last.Verdict.Message != "2" {
			t.Errorf("%s: decisions %+v", answer, got)
		}
	}
}

func TestADecisionThatSawOtherDocumentsIsAnother(t *testing.T) {
	t.Parallel()
	var d Decisions
	for _, facts := range []string{"one", "two", "one"} {
		n := decisionOf("web", 0)
		d.add(n, KeyOf(&n, "pod", facts))
	}
	if got := d.Newest(); len(got) != 2 || got[0].Count+got[1].Count != 3 {
		t.Errorf("decisions %+v", got)
	}
}

func TestManyDecisionsOfOneTenantPushOutOnlyItsOwn(t *testing.T) {
	t.Parallel()
	for name, flood := range map[string]func(*api.Decision){
		"by number": func(*api.Decision) {},
		"by text":   func(d *api.Decision) { d.Verdict.Message += strings.Repeat("x", 1<<16) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d Decisions
			for i := range 20 {
				for _, quiet := range []string{"", "quiet"} {
					put(&d, decisionOf(strconv.Itoa(i), i, func(d *api.Decision) { d.Tenant = quiet }))
				}
			}
			for i := range 3 * maxDecisions {
				put(&d, decisionOf("flood"+strconv.Itoa(i), 100+i, flood, func(d *api.Decision) { d.Tenant = "loud" }))
			}
			by := map[string]int{}
			got := d.Newest()
			for i := range got {
				by[got[i].Tenant]++
			}
			if by[""] != 20 || by["quiet"] != 20 || by["loud"] < 60 || len(got) > maxDecisions || d.text > maxDecisionText {
				t.Errorf("decisions by tenant: %v, %d bytes of text", by, d.text)
			}
			if last := got[len(got)-1].Name; last != "flood"+strconv.Itoa(3*maxDecisions-1) {
				t.Errorf("the newest is %s", last)
			}
		})
	}
}
