package worker

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// startGate lets static pods of one full name run one after the other: the
// next starts only when the one before has left, that is, when its containers,
// volumes and cgroup are gone. It is guarded by the pool's lock.
type startGate struct {
	// holders are several only where an earlier agent left them so, or where it is
	// in doubt which of them runs.
	holders map[string][]types.UID
	waiting map[string][]types.UID
}

func newStartGate() startGate {
	return startGate{holders: map[string][]types.UID{}, waiting: map[string][]types.UID{}}
}

// join puts uid at the end of the line for name.
func (g *startGate) join(name string, uid types.UID) {
	g.waiting[name] = append(g.waiting[name], uid)
}

// enter reports whether uid holds name now: it does when nobody else holds it
// and nobody who can still start is before it in the line. Those who cannot
// (live is false) lose their place.
func (g *startGate) enter(name string, uid types.UID, live func(types.UID) bool) bool {
	if holders := g.holders[name]; len(holders) > 0 {
		return slices.Contains(holders, uid)
	}
	line := slices.DeleteFunc(g.waiting[name], func(w types.UID) bool { return w != uid && !live(w) })
	set(g.waiting, name, line)
	if len(line) == 0 || line[0] != uid {
		return false
	}
	g.seize(name, uid)
	return true
}

// seize gives name to uid, out of turn, beside those who hold it. The empty name is
// everybody's.
func (g *startGate) seize(name string, uid types.UID) {
	if name == "" {
		return
	}
	if !slices.Contains(g.holders[name], uid) {
		g.holders[name] = append(g.holders[name], uid)
	}
	set(g.waiting, name, without(g.waiting[name], uid))
}

// leave takes uid out of the line and of those who hold the name, and gives who
// waits for it.
func (g *startGate) leave(name string, uid types.UID) []types.UID {
	set(g.holders, name, without(g.holders[name], uid))
	set(g.waiting, name, without(g.waiting[name], uid))
	return g.waiting[name]
}

// set leaves no empty line behind.
func set(lines map[string][]types.UID, name string, line []types.UID) {
	if len(line) == 0 {
		delete(lines, name)
		return
	}
	lines[name] = line
}

func without(line []types.UID, uid types.UID) []types.UID {
	return slices.DeleteFunc(line, func(w types.UID) bool { return w == uid })
}
