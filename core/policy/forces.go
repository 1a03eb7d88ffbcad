package policy

import (
	"cmp"
	"slices"
	"strings"
)

// forces are the sets in force at one moment.
type forces struct {
	plane *Plane
	// sets are by owner.
	sets map[string]*loadedSet
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
	f := &forces{plane: p, sets: map[string]*loadedSet{}, known: map[string]force{}}
	for _, o := range p.owners {
		if s, _ := o.standing.use(); s != nil {
			f.sets[o.tenant] = s
		}
	}
	return f
}

func (f *forces) release() {
	for _, s := range f.sets {
		s.release()
	}
}

func (f *forces) reviews() bool {
	for _, s := range f.sets {
		if s.reviews() {
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
		if s := f.sets[o.tenant]; s != nil && o.judges(tenant) {
			names = append(names, s.set.Name())
			one.reviews = one.reviews || s.reviews()
		}
	}
	one.key = keyOfSets(names)
	f.known[tenant] = one
	return one
}

// keyOfSets identifies sets by their names; "-" stands for none.
func keyOfSets(names []string) string { return cmp.Or(strings.Join(names, " "), "-") }
