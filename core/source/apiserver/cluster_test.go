package apiserver

import (
	"strings"
	"testing"
)

// TestAnotherCluster checks which pods are kept if a server of another cluster, or one that may
// be, answers the list after a broken watch.
func TestAnotherCluster(t *testing.T) {
	t.Parallel()
	both := []string{"default/a img:1", "default/b img:1"}
	tests := map[string]struct {
		before, after string
		then          func(*fakeServer)
		want          []string
		health        string
	}{
		"a server of the same cluster without pods": {before: "one", after: "one", then: (*fakeServer).reset, health: "<nil>"},
		"a server of another cluster without pods": {
			before: "one", after: "two", then: (*fakeServer).reset, want: both,
			health: `is another cluster: its service default/kubernetes has the UID two, that of their cluster one`,
		},
		"a server of another cluster with other pods": {
			before: "one", after: "two", then: func(s *fakeServer) { s.reset(); s.set("c", "img:1") }, want: both,
			health: "; they run on; if the node is to belong to this cluster, which ends them, restart the agent",
		},
		"a server of another cluster that has more versions": {
			before: "one", after: "two", then: func(s *fakeServer) { s.reset(); s.version = 100; s.set("c", "img:1") }, want: both,
			health: `is another cluster: its service default/kubernetes has the UID two, that of their cluster one`,
		},
		"a server whose service was made anew and that has one of the pods": {
			before: "one", after: "two", then: func(s *fakeServer) { s.remove("b"); s.compact() }, want: both[:1], health: "<nil>",
		},
		"a server that does not say any more what cluster it is of": {
			before: "one", then: (*fakeServer).reset, want: both, health: "does not say whether it is still the same cluster: ",
		},
		"a server that never said what cluster it is of": {after: "two", then: (*fakeServer).reset, health: "<nil>"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, "a", "b")
			f.moveTo(test.before)
			run(t, f.source)
			eventually(t, 1, f.watching)
			eventually(t, both, f.sink.has)
			f.cutWith(func() { f.moveTo(test.after); test.then(f.fakeServer) })
			eventually(t, true, func() bool { return strings.Contains(f.sink.lastHealth(), test.health) && len(f.asked()) > 3 })
			eventually(t, test.want, f.sink.has)
		})
	}
}
