package describe

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/wardlet/wardlet/core/api"
)

// component is the source of the agent's events.
const component = "wardlet"

// events writes events, the newest last.
func (w *writer) events(all []api.Event, now time.Time) {
	if len(all) == 0 {
		w.row(0, "Events:", none)
		return
	}
	w.row(0, "Events:")
	w.row(1, "Type", "Reason", "Age", "From", "Message")
	w.row(1, "----", "------", "----", "----", "-------")
	for _, e := range slices.SortedStableFunc(slices.Values(all), func(a, b api.Event) int { return a.Last.Compare(b.Last) }) {
		since := age(now, e.First)
		if e.Count > 1 {
			since = fmt.Sprintf("%s (x%d over %s)", age(now, e.Last), e.Count, since)
		}
		message := strings.TrimSpace(e.Message)
		if e.FieldPath != "" {
			message = e.FieldPath + ": " + message
		}
		w.row(1, e.Type, e.Reason, since, component, message)
	}
}

// age returns how long ago at was. A time in the future is shown as now: the node's clock was set
// back.
func age(now, at time.Time) string {
	if at.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(max(now.Sub(at), 0))
}
