package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/glob"
	"github.com/wardlet/wardlet/plugins/sdk/merge"
)

// maxLines is the largest number of candidates in an explanation.
const maxLines = 20

type policy struct {
	// special are the orders for some namespaces; the first that matches the pod's
	// namespace applies. If none matches, usual applies.
	usual   order
	special []order
	// sticky: among candidates of equal rank, the running candidate wins.
	sticky bool
	// preferConfirmed: among candidates of equal rank, a candidate that its source has
	// confirmed wins.
	preferConfirmed bool
}

// order returns the order for a namespace.
func (p *policy) order(namespace string) *order {
	for i := range p.special {
		if o := &p.special[i]; glob.Match(o.namespaces, namespace) {
			return o
		}
	}
	return &p.usual
}

// beaten returns why c loses against by, a candidate before c in the agent's order; empty
// if c wins.
func (p *policy) beaten(c, by *candidate) string {
	switch {
	case c.rank != by.rank:
		return when(c.rank > by.rank, "its source comes later")
	case p.preferConfirmed && c.restored != by.restored:
		return when(c.restored, "its source has not confirmed it since the restart")
	case p.sticky && c.running != by.running:
		return when(by.running, "another of equal rank runs")
	}
	return "another of equal rank comes first"
}

func when(so bool, why string) string {
	if so {
		return why
	}
	return ""
}

func (p *policy) choose() merge.Verdict {
	// All candidates have the same namespace.
	o := p.order(namespaces.At(0).String())
	var winner candidate
	won, n := -1, 0
	list := all()
	for c, ok := list.next(o); ok; c, ok = list.next(o) {
		if won < 0 || p.beaten(&c, &winner) == "" {
			won, winner = n, c
		}
		n++
	}
	switch {
	case len(o.entries) == 0:
		merge.Explain("there is no order for the pod's namespace")
		return merge.Abstain()
	case won < 0 || winner.rank == len(o.entries):
		merge.Explain(sdk.Concat("no candidate is of a source in the order ", o.text))
		return merge.Abstain()
	}
	p.explain(o, &winner, won, n)
	return merge.Win(won)
}

// explain adds an explanation of why each candidate wins or loses.
func (p *policy) explain(o *order, winner *candidate, won, n int) {
	var t sdk.Text
	winner.name(&t)
	t.Add(" wins: place ")
	t.AddInt(int64(winner.rank + 1))
	t.Add(" of the order ", o.text)
	list := all()
	for i := range min(n, maxLines) {
		c, _ := list.next(o)
		if i == won {
			continue
		}
		t.Add("\n")
		c.name(&t)
		t.Add(" loses: ")
		if c.rank == len(o.entries) {
			t.Add("its source is not in the order")
		} else {
			t.Add(p.beaten(&c, winner))
		}
	}
	if n > maxLines {
		t.Add("\n…")
	}
	merge.Explain(t.String())
}
