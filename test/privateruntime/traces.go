package privateruntime

import "slices"

// traces are what containers of a runtime made outside its directories and without its name: only their own records,
// which go with them, tell whose it is.
type traces struct {
	// Cgroups are directories of containers, in every hierarchy.
	Cgroups []string `json:"cgroups,omitempty"`
}

// add merges other traces into these.
func (t *traces) add(other traces) {
	t.Cgroups = append(t.Cgroups, other.Cgroups...)
	slices.Sort(t.Cgroups)
	t.Cgroups = slices.Compact(t.Cgroups)
}

// findTraces reads the records of the containers that are there. One that ends meanwhile cleans up by itself.
func (i instance) findTraces() traces {
	var found traces
	ids, err := i.containers()
	if err != nil {
		return found
	}
	for _, id := range ids {
		if paths, err := containerCgroups(i.runcRoot(), id); err == nil {
			found.add(traces{Cgroups: paths})
		}
	}
	return found
}
