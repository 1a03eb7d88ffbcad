package main

import (
	"fmt"
	"slices"

	"github.com/wardlet/wardlet/test/bench/policies/guest"
)

const (
	microsecond = 1e3
	millisecond = 1e6
	mebibyte    = 1 << 20
)

// figureGroup is a group of figures that are computed from the same series.
type figureGroup struct {
	needs   []string
	figures func(series) []figure
}

// figureGroups returns all groups, in the order of their figures.
func figureGroups() []figureGroup {
	groups := []figureGroup{
		{decisionSeries(), decisions},
		{meteringSeries(), metering},
		{rivalSeries(), comparison},
		{readySeries(), ready},
		{residentSeries(), memory},
		{planeSeries(), planes},
		{swapSeries(), swapping},
	}
	for _, part := range []string{"decisions", "metering", "planes"} {
		groups = append(groups, figureGroup{[]string{"disturbed " + part}, func(s series) []figure {
			return []figure{plain("disturbed-"+part, s.middle("disturbed "+part), "ratio")}
		}})
	}
	return groups
}

// figures returns all figures with their limits. A missing series is an error.
func figures(s series) (all []figure, err error) {
	for _, g := range figureGroups() {
		if missing := s.missing(g.needs); len(missing) > 0 {
			return nil, fmt.Errorf("nothing was measured of %q", missing)
		}
	}
	return figuresOf(s), nil
}

// figuresOf returns the figures whose series are all present.
func figuresOf(s series) (all []figure) {
	for _, g := range figureGroups() {
		if len(s.missing(g.needs)) == 0 {
			all = append(all, g.figures(s)...)
		}
	}
	return all
}

// decisions returns the figures of a decision.
func decisions(s series) (all []figure) {
	for _, g := range []struct {
		name         string
		verdict, cpu float64
	}{
		{guest.Go, 2 * microsecond, 6 * microsecond},
		{guest.C, 1 * microsecond, 2.5 * microsecond},
	} {
		all = append(all,
			plain(g.name+"-verdict", s.middle(g.name+" verdict"), "ns").atMost(g.verdict),
			plain(g.name+"-verdict-p99", s.middle(g.name+" verdict p99"), "ns"),
			plain(g.name+"-verdict-1000-a-second", s.middle(g.name+" verdict paced"), "ns").atMost(g.verdict),
			plain(g.name+"-verdict-1000-a-second-p99", s.middle(g.name+" verdict paced p99"), "ns"),
			plain(g.name+"-verdict-1000-a-second-awake", s.middle(g.name+" verdict awake"), "ns").atMost(g.verdict),
			plain(g.name+"-verdict-1000-a-second-awake-p99", s.middle(g.name+" verdict awake p99"), "ns"),
			plain(g.name+"-cpu", s.middle(g.name+" cpu"), "ns").atMost(g.cpu),
			plain(g.name+"-cpu-1000-a-second", s.middle(g.name+" cpu paced"), "ns").atMost(g.cpu),
			plain(g.name+"-cpu-1000-a-second-awake", s.middle(g.name+" cpu awake"), "ns").atMost(g.cpu),
			plain(g.name+"-allocations", s.middle(g.name+" allocations"), "count").atMost(0),
			plain(g.name+"-goroutines", s.middle(g.name+" goroutines"), "count").atMost(0))
	}
	return append(all,
		plain("native-verdict", s.middle(native+" verdict"), "ns"),
		plain("native-verdict-1000-a-second", s.middle(native+" verdict paced"), "ns"),
		plain("native-verdict-1000-a-second-awake", s.middle(native+" verdict awake"), "ns"))
}

// metering returns the figures of the cost of counting fuel.
func metering(s series) (all []figure) {
	ratios := make([]float64, 0, 6)
	for _, g := range guest.All() {
		name := g.String()
		ratio := s.ratio(name+" metered", name+" plain")
		ratios = append(ratios, ratio)
		all = append(all,
			plain("metered-"+name, s.middle(name+" metered"), "ns").beside("unmetered", s.middle(name+" plain")),
			plain("metering-"+name, ratio, "ratio"))
	}
	return append(all,
		plain("metering-median", median(ratios), "ratio").atMost(1.25),
		plain("metering-worst", slices.Max(ratios), "ratio").atMost(1.35))
}

// comparison returns the figures compared with other engines.
func comparison(s series) (all []figure) {
	for _, rival := range []struct {
		name, of string
		limit    float64
	}{
		{"cel-converted", celConverted, 0.1},
		{"cel", cel, 1},
		{"opa", rego, 0.15},
		{"opa-wasm", regoWasm, 0.05},
	} {
		all = append(all,
			plain("go-cpu-vs-"+rival.name, s.middle("go cpu")/s.middle(rival.of+" cpu"), "ratio").atMost(rival.limit),
			plain(rival.name+"-cpu", s.middle(rival.of+" cpu"), "ns").beside("Go guest", s.middle("go cpu")))
	}
	return all
}

// memory returns the figures of an additional policy.
func memory(s series) (all []figure) {
	for _, modules := range []string{"other", "same"} {
		ours, theirs := "resident agent go "+modules, "resident bare go "+modules
		all = append(all,
			plain("resident-go-"+modules, s.middle(ours), "bytes").beside("bare wazero", s.middle(theirs)),
			plain("resident-go-"+modules+"-vs-bare", s.ratio(ours, theirs), "ratio").atMost(1.25))
	}
	return append(all,
		plain("resident-c", s.middle("resident agent c other"), "bytes").
			beside("bare wazero", s.middle("resident bare c other")).atMost(mebibyte))
}

// ready returns the figures of a policy that becomes ready.
func ready(s series) (all []figure) {
	for _, args := range processes[0].args {
		name := args[0]
		all = append(all,
			plain("ready-"+name, s.middle("ready "+name), "ns").atMost(60*millisecond),
			plain("ready-"+name+"-cpu", s.middle("ready "+name+" cpu"), "ns"))
	}
	return all
}

func decisionSeries() (names []string) {
	for _, g := range []string{guest.Go, guest.C} {
		for _, what := range []string{"verdict", "verdict p99", "verdict paced", "verdict paced p99", "verdict awake", "verdict awake p99", "cpu", "cpu paced", "cpu awake", "allocations", "goroutines"} {
			names = append(names, g+" "+what)
		}
	}
	return append(names, native+" verdict", native+" verdict paced", native+" verdict awake")
}

func meteringSeries() (names []string) {
	for _, g := range guest.All() {
		names = append(names, g.String()+" metered", g.String()+" plain")
	}
	return names
}

func rivalSeries() []string {
	names := []string{guest.Go + " cpu"}
	for _, rival := range []string{cel, celConverted, rego, regoWasm} {
		names = append(names, rival+" cpu")
	}
	return names
}

func readySeries() (names []string) {
	for _, args := range processes[0].args {
		names = append(names, "ready "+args[0], "ready "+args[0]+" cpu")
	}
	return names
}

func residentSeries() (names []string) {
	for _, args := range processes[1].args {
		names = append(names, "resident "+args[0]+" "+args[1]+" "+args[2])
	}
	return names
}

// missing returns the names that have no values.
func (s series) missing(names []string) (missing []string) {
	for _, name := range names {
		if len(s[name]) == 0 {
			missing = append(missing, name)
		}
	}
	return missing
}
