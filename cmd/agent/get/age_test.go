package get

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
)

// TestAge_ofEveryTableAfterAClockStep passes each table a time that is an hour
// ahead of the clock.
func TestAge_ofEveryTableAfterAClockStep(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	later := now.Add(time.Hour)
	clock := func() time.Time { return now }
	started := metav1.NewTime(later)
	p := &v1.Pod{Status: v1.PodStatus{StartTime: &started, ContainerStatuses: []v1.ContainerStatus{{
		RestartCount:         1,
		LastTerminationState: v1.ContainerState{Terminated: &v1.ContainerStateTerminated{FinishedAt: started}},
	}}}}
	for name, cells := range map[string][]string{
		"pods":      podPrinter{now: clock}.entry(p).cells,
		"sources":   sourceEntry(&api.SourceState{LastRead: later}, now).cells,
		"conflicts": conflictEntry(&api.Conflict{Since: later}, now).cells,
		"decisions": decisionPrinter{now: clock}.entry(&api.Decision{Last: later}).cells,
		"policies":  {policyPrinter{now: clock}.ago(later)},
		"updates":   {updatePrinter{now: clock}.ago(later)},
		"events":    {eventPrinter{now: clock}.ago(later)},
	} {
		line := strings.Join(cells, " ")
		if strings.Contains(line, "<invalid>") || !strings.Contains(line, "0s") {
			t.Errorf("%s: %s", name, line)
		}
	}
}
