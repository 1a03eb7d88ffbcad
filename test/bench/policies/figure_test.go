package main

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/test/bench/policies/guest"
)

func TestMiddleAndPercentile(t *testing.T) {
	t.Parallel()
	for want, values := range map[float64][]float64{0: nil, 3: {9, 3, 1}, 2: {1, 3}, 7: {7}} {
		if got := median(values); got != want {
			t.Errorf("median of %v: %v, want %v", values, got, want)
		}
	}
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for of, want := range map[int]float64{1: 1, 25: 25, 50: 50, 99: 99, 100: 100} {
		if got := percentile(hundred, of); got != want {
			t.Errorf("percentile %d: %v, want %v", of, got, want)
		}
	}
	if got := percentile([]float64{1, 2, 3}, 99); got != 3 {
		t.Errorf("of three: %v", got)
	}
}

func TestARatioIsMadeInEachRound(t *testing.T) {
	t.Parallel()
	s := series{"a": {1, 30, 2, 5}, "b": {1, 10, 0}}
	if got := s.ratio("a", "b"); got != 2 { // of 1 and 3; 2 to 0 is none
		t.Errorf("got %v", got)
	}
}

// measured returns series that just keep every limit.
func measured() series {
	s := series{}
	for _, args := range processes[0].args {
		s["ready "+args[0]] = []float64{60e6}
		s["ready "+args[0]+" cpu"] = []float64{1}
	}
	for _, args := range processes[1].args {
		s["resident "+strings.Join(args, " ")] = []float64{1 << 20}
	}
	for name, value := range map[string]float64{
		"go verdict": 2000, "go verdict paced": 2000, "go cpu": 6000, "go cpu paced": 6000,
		"go verdict awake": 2000, "go cpu awake": 6000, "c verdict awake": 1000, "c cpu awake": 2500,
		"c verdict": 1000, "c verdict paced": 1000, "c cpu": 2500, "c cpu paced": 2500,
		cel + " cpu": 6000, celConverted + " cpu": 60_000, rego + " cpu": 40_000, regoWasm + " cpu": 120_000,
		"disturbed decisions": 0.5, "disturbed metering": 0.5,
		native + " verdict": 1, native + " verdict paced": 1, native + " verdict awake": 1,
		"resident agent go other": 1.25 * (1 << 20), "resident agent go same": 1.25 * (1 << 20),
	} {
		s[name] = []float64{value}
	}
	for _, name := range slices.Concat(planeSeries(), swapSeries(), []string{"disturbed planes"}) {
		s[name] = []float64{1}
	}
	for _, m := range matched[1:] { // the first has no policies
		for _, how := range []string{"", " paced", " awake"} {
			s[planeName(m.name)+" verdict"+how] = []float64{60_000}
		}
	}
	for _, way := range ways {
		s[unmatchedName(way.name)] = []float64{200}
	}
	s[unmatchedName("condition")], s["swap wait"] = []float64{2000}, []float64{1e6}
	for _, g := range []string{guest.Go, guest.C} {
		s[g+" allocations"], s[g+" goroutines"] = []float64{0}, []float64{0}
		for _, how := range []string{" verdict p99", " verdict paced p99", " verdict awake p99"} {
			s[g+how] = []float64{1e9}
		}
	}
	for i, g := range guest.All() {
		s[g.String()+" plain"], s[g.String()+" metered"] = []float64{100}, []float64{[]float64{110, 110, 125, 125, 130, 135}[i]}
	}
	return s
}

func missed(t *testing.T, s series) (names []string) {
	t.Helper()
	all, err := figures(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if f.Limit != nil && f.Value > *f.Limit {
			names = append(names, f.Name)
		}
	}
	return names
}

func TestTheLimits(t *testing.T) {
	t.Parallel()
	if got := missed(t, measured()); got != nil {
		t.Errorf("what keeps the limits misses %q", got)
	}
	for name, want := range map[string]string{
		"go verdict": "policy-go-verdict", "go verdict paced": "policy-go-verdict-1000-a-second",
		"go verdict awake": "policy-go-verdict-1000-a-second-awake", "go cpu awake": "policy-go-cpu-1000-a-second-awake",
		"c verdict awake": "policy-c-verdict-1000-a-second-awake", "c cpu awake": "policy-c-cpu-1000-a-second-awake",
		"go cpu paced": "policy-go-cpu-1000-a-second", "go allocations": "policy-go-allocations", "go goroutines": "policy-go-goroutines",
		"c verdict": "policy-c-verdict", "c verdict paced": "policy-c-verdict-1000-a-second",
		"c cpu": "policy-c-cpu", "c cpu paced": "policy-c-cpu-1000-a-second", "c allocations": "policy-c-allocations",
		"c goroutines":           "policy-c-goroutines",
		"c-document metered":     "policy-metering-worst",
		"go-document metered":    "policy-metering-median",
		"ready go-projection":    "policy-ready-go-projection",
		"ready go-document":      "policy-ready-go-document",
		"ready c-projection":     "policy-ready-c-projection",
		"resident agent c other": "policy-resident-c", "resident agent go other": "policy-resident-go-other-vs-bare",
		"resident agent go same": "policy-resident-go-same-vs-bare",
		"plane 10 verdict":       "policy-plane-10-verdict", "plane 10 verdict paced": "policy-plane-10-verdict-200-a-second",
		"plane 10 verdict awake": "policy-plane-10-verdict-200-a-second-awake",
		"unmatched source":       "policy-plane-unmatched-source", "unmatched namespace": "policy-plane-unmatched-namespace",
		"unmatched labels": "policy-plane-unmatched-labels", "unmatched operation": "policy-plane-unmatched-operation",
		"unmatched condition": "policy-plane-unmatched-condition", "swap wait": "policy-plane-swap-wait",
	} {
		s := measured()
		s[name] = []float64{s[name][0]*1.01 + 0.001}
		if got := missed(t, s); !slices.Equal(got, []string{want}) {
			t.Errorf("%s a hundredth above its limit misses %q, want %s", name, got, want)
		}
	}
	for rival, want := range map[string]string{
		cel: "policy-go-cpu-vs-cel", celConverted: "policy-go-cpu-vs-cel-converted", rego: "policy-go-cpu-vs-opa", regoWasm: "policy-go-cpu-vs-opa-wasm",
	} {
		s := measured()
		s[rival+" cpu"] = []float64{s[rival+" cpu"][0] * 0.99}
		if got := missed(t, s); !slices.Equal(got, []string{want}) {
			t.Errorf("%s a hundredth faster misses %q, want %s", rival, got, want)
		}
	}
}

func TestWhatWasNotMeasuredIsAnError(t *testing.T) {
	t.Parallel()
	for name := range measured() {
		s := measured()
		delete(s, name)
		if _, err := figures(s); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestFiguresHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	all, err := figures(measured())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range all {
		if names[f.Name] || !strings.HasPrefix(f.Name, "policy-") || strings.ToLower(f.Name) != f.Name || strings.ContainsAny(f.Name, " _") {
			t.Errorf("%q is there twice, or is not in kebab case", f.Name)
		}
		names[f.Name] = true
	}
}

func TestAVariantIsAnotherModuleOfTheSameLength(t *testing.T) {
	t.Parallel()
	r := testRun(t)
	for _, language := range []string{guest.Go, guest.C} {
		binary, err := guest.Guest{Language: language, Form: guest.Projection}.Read(r.dir)
		if err != nil {
			t.Fatal(err)
		}
		one, err := guest.Variant(binary, 1)
		if err != nil {
			t.Fatalf("%s: %v", language, err)
		}
		zero, err := guest.Variant(binary, 0)
		if err != nil || !bytes.Equal(zero, binary) || len(one) != len(binary) || bytes.Equal(one, binary) {
			t.Errorf("%s: variants of %d and %d bytes: %v", language, len(zero), len(one), err)
		}
		if _, err := guest.Variant(one, 2); err == nil {
			t.Error("a module without the text has variants")
		}
		if _, err := guest.Variant(binary, 10000); err == nil {
			t.Error("there is a variant 10000")
		}
	}
}

func TestWhatWasDisturbedCountsOnlyIfAllWas(t *testing.T) {
	t.Parallel()
	s := series{}
	s.addIf(true, "a", 1)
	s.addIf(false, "a", 9)
	s.addIf(false, "b", 2)
	s.addIf(false, "b", 3)
	want := series{"a": {1}, "b": {2, 3}}
	if got := s.settled(); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestFiguresOf_areThoseThatAreWhole(t *testing.T) {
	t.Parallel()
	all, err := figures(measured())
	if err != nil {
		t.Fatal(err)
	}
	if got := figuresOf(measured()); !reflect.DeepEqual(got, all) {
		t.Errorf("of all series %d figures, want %d", len(got), len(all))
	}
	if got := figuresOf(series{}); len(got) > 0 {
		t.Errorf("of nothing %d figures", len(got))
	}
	s := measured()
	delete(s, cel+" cpu")
	for _, f := range figuresOf(s) {
		if strings.Contains(f.Name, "-vs-") && strings.HasPrefix(f.Name, "policy-go-cpu") {
			t.Errorf("without a rival there is %s", f.Name)
		}
	}
	if got := len(figuresOf(s)); got != len(all)-8 {
		t.Errorf("without a rival %d of %d figures, want all but 8", got, len(all))
	}
}

func TestSeries_withContinuesAndChangesNeither(t *testing.T) {
	t.Parallel()
	s, more := series{"a": {1}, "b": {2}}, series{"a": {3}, "c": {4}}
	want := series{"a": {1, 3}, "b": {2}, "c": {4}}
	if got := s.with(more); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !reflect.DeepEqual(s, series{"a": {1}, "b": {2}}) || !reflect.DeepEqual(more, series{"a": {3}, "c": {4}}) {
		t.Errorf("they are %v and %v now", s, more)
	}
}

func TestSeries_afterARoundKeepsWhatLaterRoundsNeed(t *testing.T) {
	t.Parallel()
	s := series{}
	s.addIf(false, "a", 9)
	if got := s.after("x", nil); !reflect.DeepEqual(got, series{"a": {9}, "disturbed x": {0}}) {
		t.Errorf("after one round: %v", got)
	}
	s.addIf(true, "a", 1)
	if got := s.after("x", nil); !reflect.DeepEqual(got, series{"a": {1}, "disturbed x": {0}}) {
		t.Errorf("after two rounds: %v", got)
	}
}

func TestReadSeries_tellsEachAndReturnsTheLast(t *testing.T) {
	t.Parallel()
	var told []series
	last, err := readSeries(strings.NewReader("{\"a\":[1]}\n{\"a\":[1,2]}\n"), func(s series) error {
		told = append(told, s)
		return nil
	})
	if err != nil || len(told) != 2 || !reflect.DeepEqual(last, series{"a": {1, 2}}) {
		t.Errorf("told %v, last %v: %v", told, last, err)
	}
	if _, err := readSeries(strings.NewReader("why"), ignore); err == nil {
		t.Error("what is no series is taken")
	}
}

func TestProgress_growsToOne(t *testing.T) {
	t.Parallel()
	p, before := progress{rounds: 3}, 0.0
	for _, of := range partTimes {
		if _, ok := parts[of.part]; !ok {
			t.Errorf("there is no part %q", of.part)
		}
		for round := 1; round <= 3; round++ {
			now := p.done(of.part, round)
			if now <= before || now > 1 {
				t.Errorf("after round %d of %s %v is done, before %v", round, of.part, now, before)
			}
			before = now
		}
	}
	if before != 1 || len(partTimes) != len(parts) {
		t.Errorf("at the end %v is done of %d parts", before, len(partTimes))
	}
}
