package runtime

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestAContextOutlivesAnotherByAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		short, cancel := context.WithCancel(t.Context())
		longer, release := outlive(short, time.Second)
		defer release()
		time.Sleep(time.Minute)
		cancel()
		time.Sleep(time.Second - time.Nanosecond)
		synctest.Wait()
		if err := longer.Err(); err != nil {
			t.Errorf("it ended too early: %v", err)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if longer.Err() == nil {
			t.Error("it has not ended")
		}
	})
}

func TestAContextThatIsReleasedEndsAtOnce(t *testing.T) {
	t.Parallel()
	longer, release := outlive(t.Context(), time.Hour)
	release()
	if longer.Err() == nil {
		t.Error("it has not ended")
	}
}
