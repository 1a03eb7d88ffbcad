package compile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// served lets each ticket have a turn, and returns their order.
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
		"the operator is next":                      {"a1 a2 b1 -1 -2", "a1 -1 -2 a2 b1"},
		"three tenants":                             {"a1 a2 b1 b2 c1", "a1 a2 b1 c1 b2"},
	} {
		q := queue{places: 1}
		names := map[*ticket]string{}
		for n := range strings.FieldsSeq(test.join) {
			names[q.join(strings.TrimPrefix(n[:1], "-"), digestOf([]byte(n)), false)] = n
		}
		if got := strings.Join(served(&q, names), " "); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		if len(q.waiting) > 0 || len(q.waitingOwners) > 0 {
			t.Errorf("%s: left: %v %v", name, q.waiting, q.waitingOwners)
		}
	}
}

// TestTheOperatorCannotStarveATenant checks that the operator has at most one place.
func TestTheOperatorCannotStarveATenant(t *testing.T) {
	t.Parallel()
	var q queue
	all := []*ticket{q.join("", Digest{1}, false), q.join("", Digest{2}, false), q.join("a", Digest{3}, false)}
	if !hasTurn(all[0]) || hasTurn(all[1]) || !hasTurn(all[2]) {
		t.Errorf("turns %t %t %t", hasTurn(all[0]), hasTurn(all[1]), hasTurn(all[2]))
	}
	for _, k := range all {
		q.leave(k)
	}
}

func TestWhoLeavesTheQueueTakesNoTurn(t *testing.T) {
	t.Parallel()
	q := queue{places: 1}
	names := map[*ticket]string{}
	var tickets []*ticket
	for _, n := range []string{"a1", "a2", "b1", "c1", "b2"} {
		k := q.join(n[:1], digestOf([]byte(n)), false)
		names[k], tickets = n, append(tickets, k)
	}
	q.leave(tickets[1]) // it is waiting
	q.leave(tickets[3]) // it is waiting, the only one of its tenant
	q.leave(tickets[0]) // it has the turn
	q.leave(tickets[0]) // leaving twice has no effect
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
	for n, name := range []string{"a1", "a2", "b1", "c1", "c2", "d1"} {
		at[name] = q.join(name[:1], Digest{byte(n)}, false)
	}
	run := func(names string) {
		t.Helper()
		for name, k := range at {
			if hasTurn(k) != strings.Contains(names, name) {
				t.Errorf("%s has a turn: %t, want %s", name, hasTurn(k), names)
			}
		}
	}
	run("a1 b1")
	q.leave(at["a1"])
	run("a1 b1 a2") // a2 joined before c1
	q.leave(at["b1"])
	run("a1 b1 a2 c1")
	q.leave(at["a2"])
	run("a1 b1 a2 c1 d1") // c2 waits because c has a child
	for _, k := range at {
		q.leave(k)
	}
	if len(q.running) > 0 || len(q.waiting) > 0 || len(q.waitingOwners) > 0 || q.timer != nil {
		t.Errorf("left: %v %v %v", q.running, q.waiting, q.waitingOwners)
	}
}

func TestQueue_aModuleOfTwoOwnersIsCompiledOnce(t *testing.T) {
	t.Parallel()
	var q queue
	a, b, other := q.join("a", Digest{1}, false), q.join("b", Digest{1}, false), q.join("b", Digest{2}, false)
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

// bombs fills every place with children that never stop by themselves.
func bombs(q *queue) (all []*ticket, ended map[*ticket]time.Duration) {
	began := time.Now()
	ended = map[*ticket]time.Duration{}
	for n := range mostChildren {
		k := q.join(fmt.Sprint("bomb", n), Digest{byte(n)}, false)
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
		all, ended := bombs(&q)
		time.Sleep(time.Minute)
		if len(ended) > 0 {
			t.Fatalf("%d make room for nobody", len(ended))
		}
		first := q.join("first", Digest{100}, false)
		if len(ended) != 1 || ended[all[0]] == 0 {
			t.Fatalf("ended %v, want the one that ran the longest", ended)
		}
		if hasTurn(first) {
			t.Error("a turn before the child has ended")
		}
		q.ended(all[0], ended[all[0]])
		q.leave(all[0])
		if !hasTurn(first) {
			t.Error("no turn when it has")
		}
		// When the bomb joins again, it must not displace an owner that has used as much.
		again := q.join("bomb0", Digest{0}, true)
		time.Sleep(time.Minute)
		if len(ended) != 1 {
			t.Errorf("ended %v, want none for one that ran before", ended)
		}
		for _, k := range append(all, first, again) {
			q.leave(k)
		}
	})
}

func TestQueue_leastTakenComesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue{places: 1}
		names := map[*ticket]string{}
		join := func(name string, again bool) *ticket {
			k := q.join(name[:1], digestOf([]byte(name)), again)
			names[k] = name
			return k
		}
		spend := func(name string, cpu time.Duration) {
			k := join(name, false)
			q.ended(k, cpu)
			q.leave(k)
		}
		spend("a0", 20*time.Second)
		spend("b0", 10*time.Second)
		busy := join("x1", false)
		for _, name := range []string{"a1", "a2", "b1", "c1"} {
			join(name, false)
		}
		join("a3", true)
		q.leave(busy)
		if got := served(&q, names); !slices.Equal(got, []string{"c1", "b1", "a3", "a1", "a2"}) {
			t.Errorf("served %v, want who took the least, and of its modules that which was displaced", got)
		}
		// While an owner has no ticket, half of its usage is forgotten in each period. While
		// it has one, nothing is.
		time.Sleep(2 * halfForgotten)
		busy = join("b1", false)
		join("a1", false)
		time.Sleep(10 * halfForgotten)
		join("b2", false)
		join("a2", false)
		q.mu.Lock()
		if a, b := q.taken["a"].cpu, q.taken["b"].cpu; a != 5*time.Second || b != 2500*time.Millisecond {
			t.Errorf("taken %v and %v, want a quarter", a, b)
		}
		q.mu.Unlock()
		q.leave(busy)
		served(&q, names)
	})
}
