package config

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/strict"
)

// ShutdownPeriod is the time that a shutdown of the machine leaves to pods from a priority on.
type ShutdownPeriod struct {
	// Priority is the lowest priority of the pods. Pods with a higher one belong to the period with
	// the next lower Priority, and pods below all periods to the lowest.
	Priority int32
	// Period is the time for these pods, whole seconds from 0 on.
	Period time.Duration
}

// criticalPriority is the priority from which on a pod is critical.
const criticalPriority = 2_000_000_000

// maxShutdown limits the sum of the periods.
const maxShutdown = 24 * time.Hour

// ShutdownPeriods returns the periods of a shutdown by ascending priority, nil if a shutdown of the
// machine does not wait for pods. The two grace periods are those of all pods from priority 0 on, and
// of critical pods.
func (n *Node) ShutdownPeriods() []ShutdownPeriod {
	if n.ShutdownGracePeriod > 0 {
		return []ShutdownPeriod{
			{Priority: 0, Period: n.ShutdownGracePeriod - n.ShutdownGracePeriodCriticalPods},
			{Priority: criticalPriority, Period: n.ShutdownGracePeriodCriticalPods},
		}
	}
	var periods []ShutdownPeriod
	for _, text := range n.ShutdownByPriority {
		if period, err := parseShutdownPeriod(text); err == nil {
			periods = append(periods, period)
		}
	}
	slices.SortFunc(periods, func(a, b ShutdownPeriod) int { return cmp.Compare(a.Priority, b.Priority) })
	return periods
}

func (n *Node) checkShutdown(report strict.Report) {
	wholeSeconds := func(key string, d time.Duration) {
		if d < 0 || d > maxShutdown || d%time.Second != 0 {
			report(key, "want whole seconds from 0s to %s, found %s", maxShutdown, d)
		}
	}
	wholeSeconds("node.shutdown_grace_period", n.ShutdownGracePeriod)
	wholeSeconds("node.shutdown_grace_period_critical_pods", n.ShutdownGracePeriodCriticalPods)
	if n.ShutdownGracePeriodCriticalPods > n.ShutdownGracePeriod {
		report("node.shutdown_grace_period_critical_pods", "it is a part of node.shutdown_grace_period: want at most %s, found %s",
			n.ShutdownGracePeriod, n.ShutdownGracePeriodCriticalPods)
	}
	if len(n.ShutdownByPriority) > 0 && n.ShutdownGracePeriod > 0 {
		report("node.shutdown_by_priority", "it replaces node.shutdown_grace_period; leave one of them out")
	}
	var sum time.Duration
	for _, p := range n.ShutdownPeriods() {
		sum += p.Period
	}
	switch {
	case len(n.ShutdownByPriority) == 0:
	case sum > maxShutdown:
		report("node.shutdown_by_priority", "want at most %s together, found %s", maxShutdown, sum)
	case sum == 0 && len(n.ShutdownPeriods()) == len(n.ShutdownByPriority):
		report("node.shutdown_by_priority", `all periods are 0s; leave the key out, or write a period such as "0=30s"`)
	}
}

// parseShutdownPeriod parses "PRIORITY=DURATION".
func parseShutdownPeriod(text string) (ShutdownPeriod, error) {
	key, value, ok := strings.Cut(text, "=")
	priority, keyErr := strconv.ParseInt(key, 10, 32)
	period, valueErr := time.ParseDuration(value)
	if !ok || keyErr != nil || valueErr != nil || period < 0 || period > maxShutdown || period%time.Second != 0 {
		return ShutdownPeriod{}, errors.New(`want PRIORITY=DURATION in whole seconds, for example "1000=30s"`)
	}
	return ShutdownPeriod{Priority: int32(priority), Period: period}, nil
}
