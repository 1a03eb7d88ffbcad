package main

import (
	"slices"
	"strconv"
	"time"
)

// The sides, by their names in series.
const (
	ours     = "wardlet"
	kubelet  = "kubelet"
	floor    = "floor"
	guarded  = "wardlet with policies"
	nobody   = "nobody" // pods that run without an agent
	replaced = " replaced"
)

// callers are the numbers of concurrent callers of the runtime for the floor of a burst.
var callers = []int{4, 8, 16}

func floorOf(callers int) string { return floor + " " + strconv.Itoa(callers) }

// measuredOf returns the parts whose series are all present.
func measuredOf(s series, p parts) (whole parts) {
	for _, part := range p {
		if len(unmeasured(s, parts{part})) == 0 {
			whole = append(whole, part)
		}
	}
	return whole
}

// figures returns all figures of the parts p, which must have been measured, with their limits.
func figures(s series, p parts) (all []figure) {
	for _, part := range []struct {
		name    string
		figures func(series) []figure
	}{
		{partStart, startFigures},
		{partUpdate, updateFigures},
		{partBurst, burstFigures},
		{partRestart, restartFigures},
		{partDelete, deleteFigures},
		{partIdle, idleFigures},
		{partMemory, memoryFigures},
	} {
		if p.any(part.name) {
			all = append(all, part.figures(s)...)
		}
	}
	return all
}

func startFigures(s series) []figure {
	return []figure{
		plain("lifecycle-start", s.middle("start "+ours), "ns").beside(floor, s.middle("start "+floor)),
		plain("lifecycle-start-over-floor", s.over("start "+ours, "start "+floor), "ns").
			beside(kubelet, s.over("start "+kubelet, "start "+floor)).atMost(float64(10 * time.Millisecond)),
	}
}

func updateFigures(s series) []figure {
	return []figure{
		plain("lifecycle-update", s.middle("update "+ours), "ns").beside(floor, s.middle("update "+floor)),
		plain("lifecycle-update-over-floor", s.over("update "+ours, "update "+floor), "ns").
			beside(kubelet, s.over("update "+kubelet, "update "+floor)).atMost(float64(20 * time.Millisecond)),
		plain("lifecycle-update-replaced", s.middle("update "+ours+replaced), "ns").
			beside(floor, s.middle("update "+floor+replaced)),
	}
}

func burstFigures(s series) []figure {
	// The best floor is the one with the lowest median over all rounds.
	best := slices.MinFunc(callers, func(a, b int) int {
		return int(s.middle("burst "+floorOf(a)) - s.middle("burst "+floorOf(b)))
	})
	return []figure{
		plain("lifecycle-burst", s.middle("burst "+ours), "ns").beside(floorOf(best), s.middle("burst "+floorOf(best))),
		plain("lifecycle-burst-vs-floor", s.ratio("burst "+ours, "burst "+floorOf(best)), "ratio").
			beside(kubelet, s.ratio("burst "+kubelet, "burst "+floorOf(best))).atMost(1.10),
		plain("lifecycle-burst-cpu", s.middle("burst cpu "+ours), "ns").beside(kubelet, s.middle("burst cpu "+kubelet)),
		plain("lifecycle-burst-containerd", s.middle("burst containerd "+ours), "ns").
			beside(floorOf(best), s.middle("burst containerd "+floorOf(best))),
	}
}

func restartFigures(s series) []figure {
	return []figure{
		plain("lifecycle-restart", s.middle("restart "+ours), "ns").beside(floor, s.middle("restart "+floor)),
		plain("lifecycle-restart-kubelet", s.middle("restart "+kubelet), "ns"),
		plain("lifecycle-restart-vs-kubelet", s.ratio("restart "+ours, "restart "+kubelet), "ratio").atMost(0.2),
	}
}

func deleteFigures(s series) []figure {
	whole := func(callers int) float64 {
		return s.middle("delete "+floorOf(callers)) + s.middle("left "+floorOf(callers))
	}
	best := slices.MinFunc(callers, func(a, b int) int { return int(whole(a) - whole(b)) })
	return []figure{
		plain("lifecycle-delete", s.middle("delete "+ours), "ns").beside(kubelet, s.middle("delete "+kubelet)),
		plain("lifecycle-delete-floor", s.middle("delete "+floorOf(best)), "ns"),
		plain("lifecycle-delete-vs-kubelet", s.ratio("delete "+ours, "delete "+kubelet), "ratio").atMost(0.7),
		plain("lifecycle-delete-left", s.worst("left "+ours), "ns").beside(floorOf(best), s.worst("left "+floorOf(best))).
			atMost(float64(2 * time.Second)),
	}
}

// untold stands for a ratio to a value that is lost in noise: it misses every limit.
const untold = 999

// idleFigures returns nanoseconds of processor time per second. The time that an agent causes in
// containerd is a difference of medians, because within one round it can be smaller than the noise
// from other work on the machine.
func idleFigures(s series) []figure {
	alone := s.middle("containerd " + nobody)
	caused, theirs := s.middle("containerd "+ours)-alone, s.middle("containerd "+kubelet)-alone
	ratio := float64(untold)
	if theirs > 0 {
		ratio = caused / theirs
	}
	return []figure{
		plain("lifecycle-idle-cpu-per-second", s.middle("cpu "+ours), "ns").beside(kubelet, s.middle("cpu "+kubelet)),
		plain("lifecycle-idle-cpu-vs-kubelet", s.ratio("cpu "+ours, "cpu "+kubelet), "ratio").atMost(0.2),
		plain("lifecycle-idle-containerd-per-second", caused, "ns").beside(kubelet, theirs),
		plain("lifecycle-idle-containerd-vs-kubelet", ratio, "ratio").atMost(0.3),
		plain("lifecycle-idle-containerd-alone-per-second", alone, "ns"),
		plain("lifecycle-idle-shims-per-second", s.middle("shims "+ours), "ns").beside(kubelet, s.middle("shims "+kubelet)),
	}
}

func memoryFigures(s series) []figure {
	return []figure{
		plain("lifecycle-resident", s.middle("resident "+guarded), "bytes").beside(kubelet, s.middle("resident "+kubelet)),
		plain("lifecycle-resident-vs-kubelet", s.ratio("resident "+guarded, "resident "+kubelet), "ratio").atMost(0.5),
		plain("lifecycle-resident-without-policies", s.middle("resident "+ours), "bytes"),
	}
}

// unmeasured returns the missing series that the figures of the parts need.
func unmeasured(s series, p parts) (missing []string) {
	needed := map[string][]string{
		partStart:  {"start " + ours, "start " + kubelet, "start " + floor},
		partUpdate: {"update " + ours, "update " + kubelet, "update " + floor, "update " + ours + replaced, "update " + floor + replaced},
		partBurst: {
			"burst " + ours, "burst " + kubelet, "burst cpu " + ours, "burst cpu " + kubelet, "burst containerd " + ours,
		},
		partRestart: {"restart " + ours, "restart " + kubelet, "restart " + floor},
		partDelete:  {"delete " + ours, "delete " + kubelet, "left " + ours},
		partIdle: {
			"cpu " + ours, "cpu " + kubelet, "containerd " + ours, "containerd " + kubelet, "containerd " + nobody,
			"shims " + ours, "shims " + kubelet,
		},
		partMemory: {"resident " + guarded, "resident " + kubelet, "resident " + ours},
	}
	for _, n := range callers {
		needed[partBurst] = append(needed[partBurst], "burst "+floorOf(n), "burst containerd "+floorOf(n))
		needed[partDelete] = append(needed[partDelete], "delete "+floorOf(n), "left "+floorOf(n))
	}
	for _, part := range p {
		for _, name := range needed[part] {
			if len(s[name]) == 0 {
				missing = append(missing, name)
			}
		}
	}
	return missing
}
