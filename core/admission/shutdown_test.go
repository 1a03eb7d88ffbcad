package admission

import "testing"

func TestNodeShutdown(t *testing.T) {
	t.Parallel()
	down := false
	h := NodeShutdown(func() bool { return down })
	if got := h.Admit(&Attributes{}); !got.Admitted {
		t.Errorf("without a shutdown: %+v", got)
	}
	down = true
	if got, want := h.Admit(&Attributes{}), (Result{Reason: "NodeShutdown", Message: "Pod was rejected as the node is shutting down."}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
