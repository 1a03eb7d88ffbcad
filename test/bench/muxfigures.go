package main

import "strconv"

// The dimensions of a cost that have limits.
var (
	elapsed   = dimension{"time", "ns", func(c cost) float64 { return c.Nanoseconds }}
	allocated = dimension{"bytes", "bytes", func(c cost) float64 { return c.Bytes }}
	counted   = dimension{"allocations", "count", func(c cost) float64 { return c.Allocations }}
	resident  = dimension{"memory", "bytes", func(c cost) float64 { return c.PeakResident }}
	heap      = dimension{"heap", "bytes", func(c cost) float64 { return c.PeakHeap }}
	retained  = dimension{"retained", "bytes", func(c cost) float64 { return c.Retained }}
)

type dimension struct {
	name, unit string
	of         func(cost) float64
}

// of returns the rounds of a task.
func (c costs) of(side, load string, pods int) []cost {
	for t, rounds := range c {
		if t.side == side && t.load == load && t.pods == pods {
			return rounds
		}
	}
	return nil
}

// middle returns the median of one dimension over the rounds.
func middle(rounds []cost, d dimension) float64 {
	values := make([]float64, len(rounds))
	for i, c := range rounds {
		values[i] = d.of(c)
	}
	return median(values)
}

// ratio returns the median of the ratios of a to b over the rounds.
func ratio(a, b []cost, d dimension) float64 {
	values := make([]float64, 0, len(a))
	for i := range min(len(a), len(b)) {
		if below := d.of(b[i]); below > 0 {
			values = append(values, d.of(a[i])/below)
		}
	}
	return median(values)
}

// figures returns the figures of the mux.
func (c costs) figures() (all []figure) {
	for _, pods := range []int{100, 1000, 10000} {
		a, b := c.of(ours, change, pods), c.of(kubelet, change, pods)
		name := "mux-change-" + strconv.Itoa(pods)
		for _, d := range []dimension{elapsed, allocated, counted} {
			all = append(all, plain(name+"-"+d.name, middle(a, d), d.unit).beside("kubelet", middle(b, d)))
		}
	}
	all = append(all, plain("mux-change-1000-durable-time", middle(c.of(durable, change, 1000), elapsed), "ns").
		beside("without a disk", middle(c.of(ours, change, 1000), elapsed)))
	all = append(all, plain("mux-first-10000-durable-time", middle(c.of(durable, snapshot, 10000), elapsed), "ns").
		beside("without a disk", middle(c.of(ours, snapshot, 10000), elapsed)))
	a, b := c.of(ours, snapshot, 10000), c.of(kubelet, snapshot, 10000)
	for _, d := range []dimension{elapsed, resident, heap, retained, allocated, counted} {
		all = append(all, plain("mux-first-10000-"+d.name, middle(a, d), d.unit).beside("kubelet", middle(b, d)))
	}
	return append(all, c.limits()...)
}

// limits returns the figures that have limits.
func (c costs) limits() (all []figure) {
	small, large := c.of(ours, change, 100), c.of(ours, change, 10000)
	theirSmall, theirLarge := c.of(kubelet, change, 100), c.of(kubelet, change, 10000)
	here, there := c.of(ours, change, 1000), c.of(kubelet, change, 1000)
	for _, d := range []dimension{elapsed, allocated, counted} {
		suffix := ""
		if d.name != elapsed.name {
			suffix = "-" + d.name
		}
		all = append(all,
			plain("mux-change-10000-vs-100"+suffix, ratio(large, small, d), "ratio").
				beside("kubelet", ratio(theirLarge, theirSmall, d)).limited(atMost, 2),
			plain("mux-change-1000-vs-kubelet"+suffix, ratio(there, here, d), "ratio").limited(atLeast, 50))
	}
	first, theirFirst := c.of(ours, snapshot, 10000), c.of(kubelet, snapshot, 10000)
	return append(all,
		plain("mux-snapshot-10000-time", ratio(first, theirFirst, elapsed), "ratio").limited(atMost, 1),
		plain("mux-snapshot-10000-memory", ratio(first, theirFirst, resident), "ratio").limited(atMost, 0.6))
}
