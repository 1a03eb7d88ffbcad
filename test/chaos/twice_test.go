package main

import (
	"strings"
	"testing"
)

// sandboxOf and containerOfPod return units as the runtime would list them.
func sandboxOf(pod string, version int, id string, s state) unit {
	return unit{id: id, sandbox: id, uid: pod + "-uid" + string(rune('0'+version)), pod: pod, version: version, state: s, created: second(0)}
}

func containerOfPod(home unit, name, id string, s state) unit {
	home.id, home.name, home.state = id, name, s
	return home
}

func TestTwice(t *testing.T) {
	t.Parallel()
	one, two := sandboxOf("web-00", 1, "s1", alive), sandboxOf("web-00", 2, "s2", alive)
	over := sandboxOf("web-00", 1, "s0", dead)
	for name, test := range map[string]struct {
		sandboxes, containers []unit
		want                  string
	}{
		"one of each":                   {[]unit{one}, []unit{containerOfPod(one, "main", "c1", alive)}, ""},
		"two containers of one pod":     {nil, []unit{containerOfPod(one, "main", "c1", alive), containerOfPod(one, "beside", "c2", alive)}, ""},
		"one container after the other": {nil, []unit{containerOfPod(one, "main", "c1", dead), containerOfPod(one, "main", "c2", alive)}, ""},
		"one that was only made":        {nil, []unit{containerOfPod(one, "main", "c1", unclear), containerOfPod(one, "main", "c2", alive)}, ""},
		"a sandbox after the other":     {[]unit{over, one}, nil, ""},
		"a pod after the other":         {[]unit{sandboxOf("web-00", 1, "s1", dead), two}, nil, ""},
		"pods of other names":           {[]unit{one, sandboxOf("web-01", 1, "s3", alive)}, nil, ""},
		"two containers of one name":    {nil, []unit{containerOfPod(one, "main", "c1", alive), containerOfPod(one, "main", "c2", alive)}, "two of one kind run at once"},
		"two sandboxes of one pod":      {[]unit{sandboxOf("web-00", 1, "s0", alive), one}, nil, "two of one kind run at once"},
		"two pods of one name":          {[]unit{one, two}, nil, "two pods of one name run at once"},
		"containers of two pods of a name": {
			nil, []unit{containerOfPod(one, "main", "c1", alive), containerOfPod(two, "beside", "c2", alive)}, "two pods of one name run at once",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := twice(&view{sandboxes: test.sandboxes, containers: test.containers})
			if len(got) > 1 || (len(got) == 0) != (test.want == "") || len(got) == 1 && !strings.Contains(got[0].text, test.want) {
				t.Errorf("got %+v, want %q", got, test.want)
			}
		})
	}
}

func TestTwiceIsByProcessesWhereTheRuntimeSaysSomethingElse(t *testing.T) {
	t.Parallel()
	home := sandboxOf("web-00", 1, "s1", alive)
	known := map[string]*unit{}
	for _, u := range []unit{home, containerOfPod(home, "main", "c1", dead), containerOfPod(home, "main", "c2", alive)} {
		known[u.id] = &u
	}
	for name, test := range map[string]struct {
		processes map[string][]int
		want      int
	}{
		"one after the other":       {map[string][]int{"s1": {1}, "c2": {3, 4}}, 0},
		"both":                      {map[string][]int{"s1": {1}, "c1": {2}, "c2": {3, 4}}, 1},
		"another that is not known": {map[string][]int{"s1": {1}, "c3": {2}, "c2": {3, 4}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := twiceInProc(second(0), test.processes, known); len(got) != test.want {
				t.Errorf("got %+v", got)
			}
		})
	}
}
