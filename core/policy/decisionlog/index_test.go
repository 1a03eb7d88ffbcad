package decisionlog

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wardlet/wardlet/core/api"
)

func numberedKey(n int) (key decisionKey) {
	binary.BigEndian.PutUint64(key[:], uint64(n))
	return key
}

func TestTheIndexKnowsWhatWasMadeLast(t *testing.T) {
	t.Parallel()
	x := index{}
	first := time.Date(2026, 3, 1, 12, 0, 0, 7, time.UTC)
	note := func(n, count int) {
		x.note(numberedKey(n), &api.Decision{ID: fmt.Sprintf("tenant-a-%d", n), First: first, Count: count})
	}
	for n := 1; n <= 10*indexedAtLeast; n++ {
		note(n, 1)
		note(1, n) // decision 1 is repeated again and again
	}
	known := 0
	for n := 1; n <= 10*indexedAtLeast; n++ {
		if _, ok := x.find(numberedKey(n)); ok {
			known++
		} else if n == 1 || n > 10*indexedAtLeast-indexedAtLeast/2 {
			t.Fatalf("%d is not known any more", n)
		}
	}
	if known > 2*indexedAtLeast {
		t.Errorf("%d are known", known)
	}
	got := api.Decision{First: first.Add(time.Hour), Count: 2}
	x.recall(numberedKey(1), &got)
	if diff := cmp.Diff(api.Decision{ID: "tenant-a-1", First: first, Count: 10*indexedAtLeast + 2}, got); diff != "" {
		t.Errorf("recalled (-want +got):\n%s", diff)
	}
}

func TestWhatIsNotOnRecordIsNotInTheIndex(t *testing.T) {
	t.Parallel()
	x := index{}
	x.note(numberedKey(1), &api.Decision{})
	x.note(decisionKey{}, &api.Decision{ID: "operator-1"})
	for _, key := range []decisionKey{numberedKey(1), {}} {
		if _, ok := x.find(key); ok {
			t.Errorf("%x is known", key)
		}
	}
	got := api.Decision{Count: 1}
	x.recall(numberedKey(1), &got)
	if diff := cmp.Diff(api.Decision{Count: 1}, got); diff != "" {
		t.Errorf("recalled (-want +got):\n%s", diff)
	}
}
