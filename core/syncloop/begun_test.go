package syncloop

import (
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/worker"
)

func TestWhatAnEarlierAgentHasBegunWithIsNotJudgedAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		op     api.Op
		before func(w *world)
		judged bool
	}{
		"it runs":                          {api.Add, func(w *world) { w.strays = []worker.Stray{stray("1", "file")} }, false},
		"it is restored, and runs":         {api.Restore, func(w *world) { w.strays = []worker.Stray{stray("1", "file")} }, false},
		"its containers are down just now": {api.Restore, func(w *world) { w.begun["1"] = true }, false},
		"it has ended":                     {api.Restore, func(w *world) { w.outcomes["1"] = v1.PodSucceeded }, false},
		"it waited":                        {api.Restore, func(*world) {}, true},
		"it is a new one, and something of an earlier one is left": {api.Add, func(w *world) { w.begun["1"] = true }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("file")
				w.refusals["1"] = portTaken
				tc.before(w)
				w.run(t, func() {
					w.send(change(tc.op, newStatic("1"), nil))
					if tc.judged {
						w.expect(t)
						w.expectStatus(t, "1", waitsForPort)
						return
					}
					w.expect(t, "create 1")
					w.expectJudged(t)
					w.expectStatus(t, "1", "")
					w.expectEvents(t)
				})
			})
		})
	}
}

func TestAfterARestartNobodyTakesTheRoomOfWhatRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("file")
		w.strays, w.begun = []worker.Stray{stray("runs", "file")}, map[types.UID]bool{"down": true}
		w.run(t, func() {
			w.send(change(api.Restore, newStatic("first"), nil), change(api.Restore, newStatic("runs"), nil), change(api.Restore, newStatic("down"), nil))
			w.expect(t, "create runs", "create down", "create first")
			w.expectJudged(t, "pod-first beside [pod-down pod-runs]")
		})
	})
}
