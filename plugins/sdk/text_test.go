package sdk_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

// compose composes several texts at once, and compares them with what strings.Builder makes
// of the same parts.
func compose(t *testing.T) {
	t.Helper()
	var texts [3]sdk.Text
	var want [3]strings.Builder
	for i := range 400 {
		k := i * i % 3
		part := strings.Repeat(string(rune('a'+i%26)), i%97)
		texts[k].Add("<", part, ">")
		texts[k].AddInt(int64(i - 200))
		want[k].WriteString("<" + part + ">" + strconv.Itoa(i-200))
		if sdk.Concat(part, "-", part) != part+"-"+part {
			t.Error("parts are not joined")
		}
	}
	for k := range texts {
		before := texts[k].String()
		texts[k].Add("more")
		if before != want[k].String() || texts[k].Len() != want[k].Len()+4 || texts[k].String() != before+"more" {
			t.Errorf("text %d has %d bytes, want %d", k, texts[k].Len(), want[k].Len())
		}
	}
	if sdk.Concat() != "" || new(sdk.Text).String() != "" {
		t.Error("nothing is something")
	}
}

func TestTextsAreWhatWasAdded(t *testing.T) {
	compose(t) // no pod is judged, as in setup
	allowed(t, judge(t, web, func() {
		label, _ := labels.Lookup("app")
		for range 5 { // in total more than the input area has room for
			compose(t)
		}
		if label != "web" || name.String() != "web" {
			t.Error("a text lies over the record")
		}
	}))
}

func TestTextsOfACallStayAsTheyAre(t *testing.T) {
	var kept string
	for i := range 3 {
		before := kept
		allowed(t, judge(t, web, func() { kept = sdk.Concat("call ", strconv.Itoa(i)) }))
		if i > 0 && before != "call "+strconv.Itoa(i-1) {
			t.Errorf("now %q", before)
		}
	}
}

// An ordinary policy uses only memory that the call has anyway, because each further page
// in a module costs the agent time.
func TestAnOrdinaryCallDoesNotAllocate(t *testing.T) {
	policy = func() admit.Verdict {
		var lines sdk.Text
		for name, image := range sdk.Zip(names, images) {
			lines.Add("container ", name.String(), ": ", image.String(), "\n")
			lines.AddInt(int64(lines.Len()))
		}
		if v, ok := labels.Lookup("app"); ok && network.Bool() {
			lines.Add(sdk.Concat("app ", v))
		}
		for image := range images.Strings() {
			if image == "none" {
				return admit.Deny("ImageNone", lines.String())
			}
		}
		admit.Explain(lines.String())
		return admit.Allow()
	}
	p := sdktest.Load(t, nil)
	result := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		p.BenchmarkAdmit(b, web)
	})
	if result.N > 0 && result.AllocsPerOp() != 0 {
		t.Errorf("a call allocates %d times, %d bytes", result.AllocsPerOp(), result.AllocedBytesPerOp())
	}
}
