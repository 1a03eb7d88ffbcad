package worker

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// startGate lets static pods of one full name run one after the other: the
// next starts only when the one before has left, that is, when its containers,
// volumes and cgroup are gone. It is guarded by the pool's lock.
type startGate struct {
	holder  map[string]types.UID
	waiting map[string][]types.UID
}

func newStartGate() startGate {
	return startGate{holder: map[string]types.UID{}, waiting: map[string][]types.UID{}}
}

// join puts uid at the end of the line for name.
func (g *startGate) join(name string, uid types.UID) {
	g.waiting[name] = append(g.waiting[name], uid)
}

// enter reports whether uid holds name now: it does when nobody else holds it
// and nobody who can still start is before it in the line. Those who cannot
// (live is false) lose their place.
func (g *startGate) enter(name string, uid types.UID, live func(types.UID) bool) bool {
	if holder, held := g.holder[name]; held {
		return holder == uid
	}
	line := slices.DeleteFunc(g.waiting[name], func(w types.UID) bool { return w != uid && !live(w) })
	g.setLine(name, line)
	if len(line) == 0 || line[0] != uid {
		return false
	}
	g.seize(name, uid)
	return true
}

// seize gives name to uid, out of turn, if nobody holds it. The empty name is
// everybody's.
func (g *startGate) seize(name string, uid types.UID) {
	if name == "" {
		return
	}
	if _, held := g.holder[name]; !held {
		g.holder[name] = uid
	}
	g.setLine(name, without(g.waiting[name], uid))
}

// leave takes uid out of the line or frees the name it holds, and gives who
// waits for it.
func (g *startGate) leave(name string, uid types.UID) []types.UID {
	if g.holder[name] == uid {
		delete(g.holder, name)
	}
	g.setLine(name, without(g.waiting[name], uid))
	return g.waiting[name]
}

func (g *startGate) setLine(name string, line []types.UID) {
	if len(line) == 0 {
		delete(g.waiting, name)
		return
	}
	g.waiting[name] = line
}

func without(line []types.UID, uid types.UID) []types.UID {
	return slices.DeleteFunc(line, func(w types.UID) bool { return w == uid })
}
