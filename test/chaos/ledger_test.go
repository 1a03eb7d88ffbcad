package main

import (
	"slices"
	"testing"
	"time"
)

// second returns the moment n seconds after the first one.
func second(n int) time.Time { return time.Unix(int64(1000+n), 0) }

// noted returns a ledger after the given steps, by their seconds.
func noted(steps map[int]step) *ledger {
	l := newLedger(shapes(), second(0))
	var order []int
	for at := range steps {
		order = append(order, at)
	}
	slices.Sort(order)
	for _, at := range order {
		s := steps[at]
		s.Pod = "web-00"
		l.note(&s, second(at))
	}
	return l
}

func edited(version int) step {
	return step{Kind: editManifest, Version: version, Image: imageOne, File: "web-00.yaml"}
}

var (
	removed = step{Kind: removeManifest}
	spoiled = step{Kind: breakManifest}
)

func TestAsked(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		steps map[int]step
		want  []int
	}{
		"the first version":                             {nil, []int{1}},
		"the newest version":                            {map[int]step{5: edited(2), 6: edited(3)}, []int{3}},
		"nothing after a removal":                       {map[int]step{5: edited(2), 6: removed}, []int{0}},
		"what was there for long before it broke":       {map[int]step{5: edited(2), 60: spoiled}, []int{2}},
		"what may not have been read before it broke":   {map[int]step{30: edited(2), 45: edited(3), 46: spoiled}, []int{1, 2, 3}},
		"nothing, or what came right before it broke":   {map[int]step{5: removed, 50: edited(2), 51: spoiled}, []int{0, 2}},
		"the newest once it is mended":                  {map[int]step{5: edited(2), 6: spoiled, 7: edited(3)}, []int{3}},
		"nothing once what was broken is removed":       {map[int]step{6: spoiled, 7: removed}, []int{0}},
		"what comes back as it was is what it was once": {map[int]step{6: removed, 7: edited(1)}, []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := noted(test.steps).wish("web-00").asked(); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestOtherwise(t *testing.T) {
	t.Parallel()
	w := noted(map[int]step{10: edited(2), 20: removed, 30: edited(2)}).wish("web-00")
	for name, test := range map[string]struct {
		version, from, to int
		want              bool
	}{
		"the first version while it was there":               {1, 0, 9, false},
		"the first version up to its end":                    {1, 0, 10, true},
		"the second before the first was over":               {2, 5, 15, true},
		"the second in its time":                             {2, 11, 19, false},
		"the second over a time in which it was gone":        {2, 11, 40, true},
		"the second after it came back":                      {2, 31, 40, false},
		"a version that nobody asked for":                    {3, 11, 19, true},
		"the first long after":                               {1, 35, 40, true},
		"the second at the moment at which it begins to be":  {2, 30, 30, true},
		"nothing at all in the time at which nothing is due": {0, 21, 29, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := w.otherwise(test.version, second(test.from), second(test.to)); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestAllowedIsByTheListTheNewestPolicyHas(t *testing.T) {
	t.Parallel()
	l := noted(nil)
	for list, want := range map[int][3]bool{0: {true, true, false}, 1: {true, false, false}, 2: {true, true, true}} {
		l.note(&step{Kind: editPolicy, List: list}, second(1))
		if got := [3]bool{l.allowed(imageOne), l.allowed(imageTwo), l.allowed(imageOther)}; got != want {
			t.Errorf("list %d: got %v, want %v", list, got, want)
		}
	}
}

func TestAWishThatWasGivenOutDoesNotChange(t *testing.T) {
	t.Parallel()
	l := noted(nil)
	w := l.wish("web-00")
	l.empty(second(5))
	if w.newest().version != 1 || l.wish("web-00").present() {
		t.Errorf("given out: %+v; now: %+v", w, l.wish("web-00"))
	}
	if l.wish("never") != nil {
		t.Error("there is a wish for what nobody asked for")
	}
}
