package compile

import (
	"slices"
	"strings"
	"testing"
)

// served lets everybody in the queue have a turn and says in which order.
func served(q *queue, names map[*ticket]string) (order []string) {
	for q.now != nil {
		t := q.now
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
		var q queue
		names := map[*ticket]string{}
		for n := range strings.FieldsSeq(test.join) {
			names[q.join(strings.TrimPrefix(n[:1], "-"))] = n
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
	var q queue
	first, tenant := q.join(""), q.join("a")
	for range 2 { // each time one of the operator's is done, another comes
		next := q.join("")
		q.leave(first)
		if q.now == tenant {
			return
		}
		first = next
	}
	t.Error("the tenant has no turn")
}

func TestWhoLeavesTheQueueTakesNoTurn(t *testing.T) {
	t.Parallel()
	var q queue
	names := map[*ticket]string{}
	var tickets []*ticket
	for _, n := range []string{"a1", "a2", "b1", "c1", "b2"} {
		k := q.join(n[:1])
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

func TestOnlyOneHasTheTurn(t *testing.T) {
	t.Parallel()
	var q queue
	first, second := q.join("a"), q.join("b")
	<-first.turn
	select {
	case <-second.turn:
		t.Error("two have the turn")
	default:
	}
	q.leave(first)
	<-second.turn
	q.leave(second)
}
