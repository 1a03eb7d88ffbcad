package status

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
)

func TestReasonOf(t *testing.T) {
	t.Parallel()
	detail := errors.New("no such image")
	fault := &Fault{Reason: "ErrImagePull", Err: detail}
	wrapped := fmt.Errorf("starting container a: %w", fault)
	if got := ReasonOf(wrapped, "RunContainerError"); got != (Reason{"ErrImagePull", "no such image"}) {
		t.Errorf("of a fault: %+v", got)
	}
	if got := ReasonOf(detail, "RunContainerError"); got != (Reason{"RunContainerError", "no such image"}) {
		t.Errorf("of another error: %+v", got)
	}
	if fault.Error() != "ErrImagePull: no such image" || !errors.Is(wrapped, detail) {
		t.Errorf("a fault reads %q", fault)
	}
}

func TestReasonCache(t *testing.T) {
	t.Parallel()
	c := NewReasonCache()
	if _, ok := c.Get("u", "a"); ok {
		t.Error("an empty cache has a reason")
	}
	c.Set("u", "a", Reason{"ErrImagePull", "one"})
	c.Set("u", "a", Reason{"ImagePullBackOff", "two"})
	c.Set("u", "b", Reason{"RunContainerError", ""})
	c.Set("v", "a", Reason{"CreateContainerError", ""})
	if r, ok := c.Get("u", "a"); !ok || r != (Reason{"ImagePullBackOff", "two"}) {
		t.Errorf("Get = %v, %v, want the newest reason", r, ok)
	}
	c.Remove("u", "a")
	c.Remove("u", "never set")
	if _, ok := c.Get("u", "a"); ok {
		t.Error("a removed reason is still there")
	}
	if _, ok := c.Get("u", "b"); !ok {
		t.Error("the reason of another container is gone")
	}
	if _, ok := c.Get("v", "a"); !ok {
		t.Error("the reason of another pod is gone")
	}
}

func TestReasonCacheForgetsWhatWasNotUsedLongest(t *testing.T) {
	t.Parallel()
	c := NewReasonCache()
	for i := range maxReasons {
		c.Set("u", strconv.Itoa(i), Reason{})
	}
	c.Get("u", "0")
	c.Set("u", "1", Reason{Reason: "again"})
	c.Set("u", "one more", Reason{})
	for container, want := range map[string]bool{"0": true, "1": true, "2": false, "3": true, "one more": true} {
		if _, ok := c.Get("u", container); ok != want {
			t.Errorf("container %s known = %v, want %v", container, ok, want)
		}
	}
}
