package agent

import "testing"

func TestEventShare(t *testing.T) {
	t.Parallel()
	for tenants, want := range map[int]int{0: 1000, 1: 500, 4: 200, 9: 100, 50: 100} {
		if got := eventShare(tenants); got != want {
			t.Errorf("with %d tenants each owner has %d events, want %d", tenants, got, want)
		}
	}
}
