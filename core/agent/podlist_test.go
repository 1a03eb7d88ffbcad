package agent

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestCreatedAt_whatWasAdoptedIsAsOldAsItRuns(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) *metav1.Time { return new(metav1.NewTime(noon.Add(d))) }
	for name, test := range map[string]struct {
		started *metav1.Time
		want    *metav1.Time
	}{
		"not started":                        {nil, at(0)},
		"started later":                      {at(time.Minute), at(0)},
		"started before this agent knew it":  {at(-time.Hour), at(-time.Hour)},
		"the time of its start is not known": {&metav1.Time{}, at(0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := createdAt(noon, test.started); !got.Equal(test.want) {
				t.Errorf("created at %v, want %v", got, test.want)
			}
		})
	}
}
