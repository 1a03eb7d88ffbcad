package wasm

import (
	"strconv"
	"testing"
	"time"

	"github.com/wardlet/wardlet/core/policy/wasm/abi/abitest"
	w "github.com/wardlet/wardlet/test/wasmtest"
)

// breaking simulates tenants whose pods break an instance whenever they may, every tenth of a
// second. It returns how many instances each tenant has broken.
func breaking(l *pool, now *time.Time, tenants int, lasting time.Duration) (broken map[string]int) {
	broken = map[string]int{}
	for end := now.Add(lasting); now.Before(end); *now = now.Add(100 * time.Millisecond) {
		for n := range tenants {
			if tenant := strconv.Itoa(n); l.mayAsk(tenant) {
				l.lost(tenant)
				broken[tenant]++
			}
		}
	}
	return broken
}

func TestTenantsThatBreakInstancesShareTenASecond(t *testing.T) {
	t.Parallel()
	for _, tenants := range []int{1, 2, 3, 10, 64, 256} {
		now := abitest.Time
		l := newPool(1)
		l.now = func() time.Time { return now }
		breaking(&l, &now, tenants, time.Minute) // after this the pool knows all tenants
		sum := 0
		const lasting = 2 * time.Minute
		broken := breaking(&l, &now, tenants, lasting)
		for _, n := range broken {
			sum += n
		}
		const most = int(lasting/time.Second) * rebuildsPerSecond
		if sum > most+tenants || sum < most*3/4 {
			t.Errorf("%d tenants broke %d instances in %s, want about %d", tenants, sum, lasting, most)
		}
		for n := range tenants {
			if got := broken[strconv.Itoa(n)]; got < most/tenants/2 || got > most/tenants+1 {
				t.Errorf("of %d tenants one broke %d", tenants, got)
			}
		}
		if !l.mayAsk("calm") {
			t.Errorf("with %d tenants that break instances another waits", tenants)
		}
	}
}

func TestATenantThatBrokeNothingLatelyDoesNotWait(t *testing.T) {
	t.Parallel()
	now := abitest.Time
	l := newPool(1)
	l.now = func() time.Time { return now }
	breaking(&l, &now, 100, 15*time.Second)
	if l.mayAsk("0") && l.mayAsk("99") {
		t.Error("who breaks instances does not wait")
	}
	now = now.Add(lossesLast)
	for l.mayAsk("0") {
		l.lost("0")
	}
	for n := range 100 {
		if tenant := strconv.Itoa(n); l.mayAsk(tenant) != (n > 0) {
			t.Errorf("tenant %d: may ask %t", n, n == 0)
		}
	}
	if len(l.losses) != 1 {
		t.Errorf("%d tenants are remembered", len(l.losses))
	}
}

func TestAPluginThatAllTenantsTrapIsMadeAnewTenTimesASecond(t *testing.T) {
	t.Parallel()
	const tenants = 32
	p, _ := load(t, w.Trapping())
	now := abitest.Time
	p.pool.now = func() time.Time { return now }
	rebuilt := 0
	const lasting = 30
	for range lasting {
		for n := range tenants {
			q := question(abitest.Pod())
			q.Tenant = strconv.Itoa(n)
			_, _ = p.Admit(t.Context(), q)
			if p.pool.made == 0 {
				rebuilt++
			}
			p.Reset(t.Context())
		}
		now = now.Add(time.Second)
	}
	if rebuilt > lasting*rebuildsPerSecond+tenants {
		t.Errorf("%d instances were made anew in %d s", rebuilt, lasting)
	}
}
