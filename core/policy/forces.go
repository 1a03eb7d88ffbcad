package policy

import (
	"cmp"
	"github.com/wardlet/wardlet/core/policy/rollout"
	"slices"
	"strings"
)

// forces are the sets in force at one moment.
type forces struct {
	plane *Plane
	// sets are by owner.
	sets map[string]*rollout.Set
	// known are by the tenant whose pods are judged.
	known map[string]force
}

// force is what judges the pods of a tenant.
type force struct {
	// key identifies the sets; reviews: one of their policies judges pods that run.
	key     string
	reviews bool
}

// forces are those of now. They are released after use.
func (p *Plane) forces() *forces {
	f := &forces{plane: p, sets: map[string]*rollout.Set{}, known: map[string]force{}}
	for _, o := range p.owners {
		if s, _ := o.Use(); s != nil {
			f.sets[o.Tenant] = s
		}
	}
	return f
}

func (f *forces) release() {
	for _, s := range f.sets {
		s.Release()
	}
}

func (f *forces) reviews() bool {
	for _, s := range f.sets {
		if s.Reviews() {
			return true
		}
	}
	return false
}

func (f *forces) of(tenant string) force {
	one, ok := f.known[tenant]
	if ok {
		return one
	}
	var names []string
	for _, o := range slices.Backward(f.plane.owners) {
		if s := f.sets[o.Tenant]; s != nil && o.Judges(tenant) {
			names = append(names, s.Eval.Name())
			one.reviews = one.reviews || s.Reviews()
		}
	}
	one.key = keyOfSets(names)
	f.known[tenant] = one
	return one
}

// keyOfSets identifies sets by their names; "-" stands for none.
func keyOfSets(names []string) string { return cmp.Or(strings.Join(names, " "), "-") }
