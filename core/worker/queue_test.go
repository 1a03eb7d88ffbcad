package worker

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func TestQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.add("soon", time.Second)
		q.add("later", time.Second)
		q.add("later", 10*time.Second) // a later entry replaces the earlier one
		q.add("dropped", time.Second)
		q.forget("dropped")
		q.add("at once", 0)
		expect := func(want ...types.UID) {
			t.Helper()
			if diff := cmp.Diff(want, q.take()); diff != "" {
				t.Errorf("at %s due (-want +got):\n%s", time.Now(), diff)
			}
		}
		expect() // due is what was due before now
		time.Sleep(time.Second)
		expect("at once")
		time.Sleep(time.Millisecond)
		expect("soon")
		expect()
		time.Sleep(10 * time.Second)
		expect("later")
	})
}
