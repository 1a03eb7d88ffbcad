package api

import (
	"testing"
	"time"
)

func TestAQuestionSaysWhoIsAskedSinceWhenAndWhatTheAnswerWaitsFor(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, asked := range map[string]Asked{
		"admission is being asked since 2026-03-01T12:00:00Z":                {Hook: HookAdmit, Since: noon},
		"who wins the conflict is being asked since 2026-03-01T12:00:00Z":    {Hook: HookMerge, Since: noon},
		"the filter is being asked since 2026-03-01T12:00:00Z: it is asleep": {Hook: HookFilter, Since: noon, Message: "it is asleep"},
	} {
		if got := asked.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
