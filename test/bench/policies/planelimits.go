package main

// planes returns the figures of the whole plane: the duration of its decisions, and the cost of a
// policy that is not asked.
func planes(s series) (all []figure) {
	for _, m := range matched {
		name, of := planeName(m.name), "plane-"+m.name
		verdict := plain(of+"-verdict", s.middle(name+" verdict"), "ns")
		if m.policies > 0 {
			verdict = verdict.beside("the plugins alone", s.middle(aloneName(m.name)+" verdict"))
		}
		verdicts := []figure{verdict}
		if m.policies > 0 {
			verdicts = append(verdicts,
				plain(of+"-verdict-200-a-second", s.middle(name+" verdict paced"), "ns"),
				plain(of+"-verdict-200-a-second-awake", s.middle(name+" verdict awake"), "ns"))
		}
		for _, v := range verdicts {
			if m.policies == 10 {
				v = v.atMost(60 * microsecond)
			}
			all = append(all, v)
		}
		all = append(all,
			plain(of+"-verdict-p99", s.middle(name+" verdict p99"), "ns"),
			plain(of+"-verdict-untidied", s.middle(name+" packed verdict"), "ns"),
			plain(of+"-cpu", s.middle(name+" packed cpu"), "ns"),
			plain(of+"-allocations", s.middle(name+" packed allocations"), "count"))
	}
	for _, way := range ways {
		all = append(all, plain("plane-unmatched-"+way.name, s.middle(unmatchedName(way.name)), "ns").atMost(way.limit))
	}
	return append(all, plain("plane-instance", s.middle("instance verdict"), "ns"))
}

// swapping returns the figures of a swap: the difference between the longest decision during a swap
// and the longest of as many decisions without a swap.
func swapping(s series) []figure {
	return []figure{
		plain("plane-swap-wait", s.middle("swap wait"), "ns").atMost(millisecond),
		plain("plane-swap-longest", s.middle("swap longest"), "ns").beside("without a swap", s.middle("swap quiet longest")),
		plain("plane-swap-median", s.middle("swap median"), "ns").beside("without a swap", s.middle("swap quiet median")),
		plain("plane-swap-decisions", s.middle("swap decisions"), "count"),
	}
}

// planeSeries returns the series that the figures of planes need.
func planeSeries() (names []string) {
	for _, m := range matched {
		name := planeName(m.name)
		names = append(names, name+" verdict", name+" verdict p99", name+" packed verdict", name+" packed cpu", name+" packed allocations")
		if m.policies > 0 {
			names = append(names, aloneName(m.name)+" verdict", name+" verdict paced", name+" verdict awake")
		}
	}
	for _, way := range ways {
		names = append(names, unmatchedName(way.name))
	}
	return append(names, "instance verdict")
}

// swapSeries returns the series that the figures of swaps need.
func swapSeries() []string {
	return []string{"swap wait", "swap longest", "swap median", "swap quiet longest", "swap quiet median", "swap decisions"}
}
