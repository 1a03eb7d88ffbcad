package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const ms = float64(time.Millisecond)

// good returns three rounds that keep every limit. In the second, the machine was slow for all
// sides.
func good() series {
	s := series{}
	for i, slow := range []float64{1, 3, 1} {
		for name, value := range map[string]float64{
			"start floor": 120 * ms, "start wardlet": 123 * ms, "start kubelet": 150 * ms,
			"update floor": 20 * ms, "update wardlet": 26 * ms, "update kubelet": 400 * ms,
			"update floor replaced": 90 * ms, "update wardlet replaced": 96 * ms, "update kubelet replaced": 500 * ms,
			"burst floor 4": 4000 * ms, "burst floor 8": 3700 * ms, "burst floor 16": 3900 * ms,
			"burst wardlet": 3900 * ms, "burst kubelet": 5000 * ms,
			"burst cpu wardlet": 300 * ms, "burst cpu kubelet": 900 * ms, "burst containerd wardlet": 2000 * ms,
			"burst containerd floor 4": 1800 * ms, "burst containerd floor 8": 1800 * ms, "burst containerd floor 16": 1800 * ms,
			"restart floor": 70 * ms, "restart wardlet": 80 * ms, "restart kubelet": 600 * ms,
			"delete wardlet": 3000 * ms, "delete kubelet": 5000 * ms, "left wardlet": 600 * ms,
			"delete floor 4": 900 * ms, "delete floor 8": 700 * ms, "delete floor 16": 700 * ms,
			"left floor 4": 500 * ms, "left floor 8": 500 * ms, "left floor 16": 600 * ms,
			"cpu wardlet": 5 * ms, "cpu kubelet": 35 * ms,
			"containerd wardlet": 3 * ms, "containerd kubelet": 60 * ms, "containerd nobody": 2 * ms,
			"shims wardlet": 1 * ms, "shims kubelet": 9 * ms,
			"resident wardlet with policies": 40 << 20, "resident kubelet": 98 << 20, "resident wardlet": 30 << 20,
		} {
			if strings.HasPrefix(name, "resident") {
				slow = 1
			}
			s.add(name, value*slow+float64(i))
		}
	}
	return s
}

func limitsMissed(all []figure) (names []string) {
	for _, f := range all {
		if f.Limit != nil && f.Value > *f.Limit {
			names = append(names, f.Name)
		}
	}
	return names
}

func TestEveryLimitIsJudgedByItsOwnSeries(t *testing.T) {
	t.Parallel()
	every, err := parseParts("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, series string
		value        float64
		missed       string
	}{
		{"all are kept", "start wardlet", 123 * ms, ""},
		{"a start 10 ms over the floor", "start wardlet", 130 * ms, ""},
		{"a start more over the floor", "start wardlet", 130.1 * ms, "lifecycle-start-over-floor"},
		{"an update 20 ms over the floor", "update wardlet", 40 * ms, ""},
		{"an update more over the floor", "update wardlet", 40.1 * ms, "lifecycle-update-over-floor"},
		{"a burst of 1.1 times the best floor", "burst wardlet", 4070 * ms, ""},
		{"a burst of more, though less than of other floors", "burst wardlet", 4080 * ms, "lifecycle-burst-vs-floor"},
		{"a restart in a fifth", "restart wardlet", 119 * ms, ""},
		{"a restart in more", "restart wardlet", 121 * ms, "lifecycle-restart-vs-kubelet"},
		{"a removal in 0.7 of the time", "delete wardlet", 3499 * ms, ""},
		{"a removal in more", "delete wardlet", 3510 * ms, "lifecycle-delete-vs-kubelet"},
		{"something is left for more than two seconds", "left wardlet", 2001 * ms, "lifecycle-delete-left"},
		{"processor time of a fifth", "cpu wardlet", 6.99 * ms, ""},
		{"more processor time", "cpu wardlet", 7.1 * ms, "lifecycle-idle-cpu-vs-kubelet"},
		{"it causes 0.3 of what a kubelet does in containerd", "containerd wardlet", 19 * ms, ""},
		{"it causes more", "containerd wardlet", 19.5 * ms, "lifecycle-idle-containerd-vs-kubelet"},
		{"it causes less than other work on the machine does", "containerd wardlet", 1 * ms, ""},
		{"a kubelet's is lost in the noise", "containerd kubelet", 1 * ms, "lifecycle-idle-containerd-vs-kubelet"},
		{"half of the memory", "resident wardlet with policies", 49 << 20, ""},
		{"more memory", "resident wardlet with policies", 49<<20 + 4096, "lifecycle-resident-vs-kubelet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := good()
			s[c.series][0], s[c.series][2] = c.value, c.value
			if got := strings.Join(limitsMissed(figures(s, every)), " "); got != c.missed {
				t.Errorf("missed %q, want %q", got, c.missed)
			}
		})
	}
}

func TestWhatIsLeftOnceTooLongMissesItsLimit(t *testing.T) {
	t.Parallel()
	s := good()
	s["left "+ours][1] = 2100 * ms
	if got := limitsMissed(figures(s, parts{partDelete})); !slices.Equal(got, []string{"lifecycle-delete-left"}) {
		t.Errorf("missed %q", got)
	}
}

func TestWhatWasNotMeasuredIsAnError(t *testing.T) {
	t.Parallel()
	for name := range good() {
		s := good()
		delete(s, name)
		every, err := parseParts("")
		if err != nil {
			t.Fatal(err)
		}
		missing := unmeasured(s, every)
		if (len(missing) == 0) != slices.Contains([]string{"update kubelet replaced"}, name) {
			t.Errorf("without %q: %q is missing", name, missing)
		}
		if whole := measuredOf(s, every); (len(whole) < len(every)) != (len(missing) > 0) {
			t.Errorf("without %q these parts count as measured: %q", name, whole)
		}
	}
}

func TestFiguresAreOfThePartsThatWereMeasured(t *testing.T) {
	t.Parallel()
	all := figures(series{"start floor": {1}, "start wardlet": {2}, "start kubelet": {3}}, parts{partStart})
	names := map[string]bool{}
	for _, f := range all {
		if names[f.Name] || !strings.HasPrefix(f.Name, "lifecycle-start") {
			t.Errorf("%s is twice, or of another part", f.Name)
		}
		names[f.Name] = true
	}
}

func TestOnlyTheFirstRoundsHaveTheLongParts(t *testing.T) {
	t.Parallel()
	every := parts{partBurst, partIdle, partMemory}
	for _, c := range []struct {
		round, long int
		all         bool
	}{{0, 0, true}, {9, 0, true}, {2, 3, true}, {3, 3, false}} {
		got := every.inRound(c.round, c.long)
		if !got.any(partBurst) || got.any(partIdle) != c.all || got.any(partMemory) != c.all || len(every) != 3 {
			t.Errorf("round %d of %d: %v", c.round, c.long, got)
		}
	}
}

func TestPartsThatDoNotExistAreRefused(t *testing.T) {
	t.Parallel()
	if p, err := parseParts("start,dance"); err == nil || !strings.Contains(err.Error(), "dance") {
		t.Errorf("%v, %v", p, err)
	}
	p, err := parseParts("burst,idle")
	if err != nil || !p.any(partStart, partIdle) || p.any(partStart, partMemory) {
		t.Errorf("%v, %v", p, err)
	}
}

func TestFigures_areThereFromTheFirstRoundOn(t *testing.T) {
	t.Parallel()
	every, err := parseParts("")
	if err != nil {
		t.Fatal(err)
	}
	first := series{}
	for name, values := range good() {
		first[name] = values[:1]
	}
	if got, want := len(figures(first, measuredOf(first, every))), len(figures(good(), every)); got != want {
		t.Errorf("%d figures after one round, %d after all", got, want)
	}
	delete(first, "cpu kubelet")
	if got := measuredOf(first, every); slices.Contains(got, partIdle) || len(got) != len(every)-1 {
		t.Errorf("before the kubelet was idle the parts %q are whole", got)
	}
}

func TestExpected_isTheSumOfTheTurns(t *testing.T) {
	t.Parallel()
	every, err := parseParts("")
	if err != nil {
		t.Fatal(err)
	}
	o := &options{rounds: 3, long: 1, every: every}
	sum := time.Duration(0)
	for round := range o.rounds {
		for side := range turnTimes {
			sum += expected(side, every.inRound(round, o.long))
		}
	}
	if got := o.expected(); got != sum || expected(ours, every) <= expected(ours, every.inRound(1, 1)) {
		t.Errorf("%s, want %s", got, sum)
	}
}

func TestFits_leavesOutRoundsThatWouldEndLate(t *testing.T) {
	t.Parallel()
	every, err := parseParts("")
	if err != nil {
		t.Fatal(err)
	}
	o := &options{rounds: 3, long: 1, every: every}
	first, second := o.expectedRound(0), o.expectedRound(1)
	for _, test := range []struct {
		name           string
		round          int
		within, passed time.Duration
		want           bool
	}{
		{"the first, whatever it takes", 0, time.Second, 0, true},
		{"without a bound", 2, 0, 100 * time.Hour, true},
		{"at the pace that is expected", 1, first + second, first, true},
		{"a second too long", 1, first + second - time.Second, first, false},
		{"a machine half as fast", 1, first + second, 2 * first, false},
		{"a machine half as fast, with time", 1, 2 * (first + second), 2 * first, true},
		{"the last one", 2, first + 2*second, first + second, true},
		{"the last one, too long", 2, first + 2*second - time.Second, first + second, false},
	} {
		o.within = test.within
		if got := o.fits(test.round, test.passed); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
