package compile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// served lets everybody in the queue have a turn and says in which order.
func served(q *queue, names map[*ticket]string) (order []string) {
	for len(q.running) > 0 {
		t := q.running[0]
		order = append(order, names[t])
		q.leave(t)
	}
	return order
}

func TestTurnsGoRoundTheTenants(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ join, want string }{
		"one after the other":                       {"a1 a2 a3", "a1 a2 a3"},
		"a flood of one tenant waits for the other": {"a1 a2 a3 a4 b1 b2", "a1 a2 b1 a3 b2 a4"},
		"the operator is next":                      {"a1 a2 b1 -1 -2", "a1 -1 a2 b1 -2"},
		"a flood of the operator's is shared":       {"-1 -2 -3 a1 b1", "-1 -2 a1 b1 -3"},
		"three tenants":                             {"a1 a2 b1 b2 c1", "a1 a2 b1 c1 b2"},
	} {
		q := queue{places: 1}
		names := map[*ticket]string{}
		for n := range strings.FieldsSeq(test.join) {
			names[q.join(strings.TrimPrefix(n[:1], "-"), digestOf([]byte(n)), 0)] = n
		}
		if got := strings.Join(served(&q, names), " "); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		if len(q.waiting) > 0 || len(q.round) > 0 {
			t.Errorf("%s: left: %v %v", name, q.waiting, q.round)
		}
	}
}

func TestTheOperatorCannotStarveATenant(t *testing.T) {
	t.Parallel()
	q := queue{places: 1}
	first, tenant := q.join("", Digest{1}, 0), q.join("a", Digest{2}, 0)
	for n := range byte(2) { // each time one of the operator's is done, another comes
		next := q.join("", Digest{3 + n}, 0)
		q.leave(first)
		if hasTurn(tenant) {
			q.leave(tenant)
			q.leave(next)
			return
		}
		first = next
	}
	t.Error("the tenant has no turn")
}

func TestWhoLeavesTheQueueTakesNoTurn(t *testing.T) {
	t.Parallel()
	q := queue{places: 1}
	names := map[*ticket]string{}
	var tickets []*ticket
	for _, n := range []string{"a1", "a2", "b1", "c1", "b2"} {
		k := q.join(n[:1], digestOf([]byte(n)), 0)
		names[k], tickets = n, append(tickets, k)
	}
	q.leave(tickets[1]) // waits
	q.leave(tickets[3]) // waits, the only one of its tenant
	q.leave(tickets[0]) // has the turn
	q.leave(tickets[0]) // once more: nothing
	if got := served(&q, names); !slices.Equal(got, []string{"b1", "b2"}) {
		t.Errorf("served %v", got)
	}
	for _, k := range tickets {
		select {
		case <-k.turn:
			if k == tickets[1] || k == tickets[3] {
				t.Errorf("%s had a turn", names[k])
			}
		default:
		}
	}
}

func hasTurn(t *ticket) bool {
	select {
	case <-t.turn:
		return true
	default:
		return false
	}
}

func TestQueue_ownersRunSideBySide(t *testing.T) {
	t.Parallel()
	var q queue
	at := map[string]*ticket{}
	for n, name := range []string{"a1", "a2", "b1", "c1", "d1", "d2"} {
		at[name] = q.join(name[:1], Digest{byte(n)}, 0)
	}
	run := func(names string) {
		t.Helper()
		for name, k := range at {
			if hasTurn(k) != strings.Contains(names, name) {
				t.Errorf("%s has a turn: %t, want %s", name, hasTurn(k), names)
			}
		}
	}
	run("a1 b1 c1")
	q.leave(at["a1"])
	run("a1 b1 c1 a2") // it came before d1
	q.leave(at["b1"])
	run("a1 b1 c1 a2 d1")
	q.leave(at["a2"])
	run("a1 b1 c1 a2 d1") // d has a child
	for _, k := range at {
		q.leave(k)
	}
	if len(q.running) > 0 || len(q.waiting) > 0 || len(q.round) > 0 || q.timer != nil {
		t.Errorf("left: %v %v %v", q.running, q.waiting, q.round)
	}
}

func TestQueue_aModuleOfTwoOwnersIsCompiledOnce(t *testing.T) {
	t.Parallel()
	var q queue
	a, b, other := q.join("a", Digest{1}, 0), q.join("b", Digest{1}, 0), q.join("b", Digest{2}, 0)
	if !hasTurn(a) || hasTurn(b) || !hasTurn(other) {
		t.Errorf("turns %t %t %t", hasTurn(a), hasTurn(b), hasTurn(other))
	}
	q.leave(other)
	q.leave(a)
	if !hasTurn(b) {
		t.Error("who waited for the module has no turn when it was not compiled")
	}
	q.leave(b)
}

// bombs takes every place with children that run all the time.
func bombs(q *queue, displaced int) (all []*ticket, ended map[*ticket]time.Duration) {
	began := time.Now()
	ended = map[*ticket]time.Duration{}
	for n := range mostChildren {
		k := q.join(fmt.Sprint("bomb", n), Digest{byte(n)}, displaced)
		begins := time.Duration(n) * time.Second
		ran := func() time.Duration { return max(0, time.Since(began)-begins) }
		q.started(k, ran, func() { ended[k] = ran() })
		all = append(all, k)
	}
	return all, ended
}

func TestQueue_bombsMakeRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var q queue
		all, ended := bombs(&q, 0)
		time.Sleep(time.Minute)
		if len(ended) > 0 {
			t.Fatalf("%d make room for nobody", len(ended))
		}
		first := q.join("first", Digest{100}, 0)
		if len(ended) != 1 || ended[all[0]] == 0 {
			t.Fatalf("ended %v, want the one that ran the longest", ended)
		}
		if hasTurn(first) {
			t.Error("a turn before the child has ended")
		}
		q.leave(all[0])
		if !hasTurn(first) {
			t.Error("no turn when it has")
		}
		// The bomb comes again, and takes the place of no child within its grace.
		again := q.join("bomb0", Digest{0}, 1)
		if len(ended) != 2 {
			t.Errorf("ended %v, want that of another bomb", ended)
		}
		for _, k := range append(all, first, again) {
			q.leave(k)
		}
	})
}

// One that lost its place has longer the next time: it comes to its end however
// many others there are.
func TestQueue_graceGrows(t *testing.T) {
	t.Parallel()
	for displaced, want := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var q queue
			all, ended := bombs(&q, displaced)
			waits := q.join("waits", Digest{100}, 0)
			sofar := func() map[*ticket]time.Duration {
				q.mu.Lock()
				defer q.mu.Unlock()
				return maps.Clone(ended)
			}
			time.Sleep(want - lookAgain)
			if ended := sofar(); len(ended) > 0 {
				t.Errorf("displaced %d times: ended %v, want %v at least", displaced, ended, want)
			}
			time.Sleep(2 * lookAgain)
			if ended := sofar(); len(ended) != 1 || ended[all[0]] < want {
				t.Errorf("displaced %d times: ended %v, want the first after %v", displaced, ended, want)
			}
			for _, k := range append(all, waits) {
				q.leave(k)
			}
		})
	}
}
