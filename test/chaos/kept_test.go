package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wardlet/wardlet/core/status"
)

func TestOnlyWhatContainerdProvablyKeepsIsKept(t *testing.T) {
	t.Parallel()
	const id, other = "c0ffee", "decaf"
	said := "err=\"remove container " + id + ": " + status.ErrContainerStuck.Error() + ": it runs\"\n"
	for name, test := range map[string]struct {
		state state
		task  bool
		log   string
		want  bool
	}{
		"ended, with a task, and the agent says so": {dead, true, "a line\n" + said, true},
		"it runs":                                           {alive, true, said, false},
		"nobody knows what it does":                         {unclear, true, said, false},
		"containerd has no task of it":                      {dead, false, said, false},
		"the agent says nothing":                            {dead, true, "a line\n", false},
		"the agent says it of another":                      {dead, true, "err=\"" + other + ": " + status.ErrContainerStuck.Error() + "\"\n", false},
		"the agent says only that it is not removed":        {dead, true, "err=\"remove container " + id + ": it runs\"\n", false},
		"the agent says it, and something else of this one": {dead, true, "id=" + id + "\nerr=\"" + status.ErrContainerStuck.Error() + "\"\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tasks, log := t.TempDir(), filepath.Join(t.TempDir(), "agent.log")
			if test.task {
				if err := os.Mkdir(filepath.Join(tasks, id), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(log, []byte(test.log), 0o600); err != nil {
				t.Fatal(err)
			}
			v := view{containers: []unit{{id: id, sandbox: "home", name: "main", state: test.state}}}
			got, err := keptIn(&v, tasks, log)
			if err != nil || got[id] != test.want || got["home"] != test.want {
				t.Errorf("kept are %v, %v", got, err)
			}
		})
	}
}
