package gc

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestTrim(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		containers, sandboxes, want []string
	}{
		"the newest dead instance stays beside one that runs": {
			containers: []string{"c4 a running s", "c3 a exited s", "c2 a exited s", "c1 a exited s"},
			sandboxes:  []string{"s ready"},
			want:       []string{"container c2", "container c1"},
		},
		"the newest dead instance stays if none runs": {
			containers: []string{"c2 a exited s", "c1 a exited s"},
			sandboxes:  []string{"s ready"},
			want:       []string{"container c1"},
		},
		"names are counted apart": {
			containers: []string{"c4 a exited s", "c3 b exited s", "c2 b exited s", "c1 a running s"},
			sandboxes:  []string{"s ready"},
			want:       []string{"container c2"},
		},
		"what is about to start stays, and the last state": {
			containers: []string{"c3 a created s", "c2 a exited s", "c1 a exited s"},
			sandboxes:  []string{"s ready"},
			want:       []string{"container c1"},
		},
		"what never started goes": {
			containers: []string{"c3 a running s", "c2 a created s", "c1 a exited s"},
			sandboxes:  []string{"s ready"},
			want:       []string{"container c2"},
		},
		"what is unknown is the worker's while it is newest": {
			containers: []string{"c2 a unknown s", "c1 a unknown s"},
			sandboxes:  []string{"s ready"},
			want:       []string{"end c1", "container c1"},
		},
		"what runs is never touched": {
			containers: []string{"c2 a running s", "c1 a running s"},
			sandboxes:  []string{"s ready"},
		},
		"sandboxes that are over and empty go, but the newest": {
			containers: []string{"c2 a exited s3", "c1 a exited s2"},
			sandboxes:  []string{"s4 over", "s3 over", "s2 over", "s1 over"},
			want:       []string{"container c1", "stop s2", "sandbox s2", "stop s1", "sandbox s1"},
		},
		"a sandbox that is ready is the worker's": {
			sandboxes: []string{"s2 ready", "s1 ready"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNode()
			n.add("u", tt.containers, tt.sandboxes)
			c, _ := newCollector(t, n)
			once(t, c)
			if diff := cmp.Diff(tt.want, n.done(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAContainerThatCannotBeRemovedKeepsItsSandboxOnly(t *testing.T) {
	t.Parallel()
	n := newNode()
	n.add("u", []string{"c3 a running s3", "c2 a exited s3", "c1 a exited s1", "c0 b running s3", "d b exited s3", "e b exited s3"},
		[]string{"s3 ready", "s2 over", "s1 over"})
	n.fail["container c1"] = true
	c, log := newCollector(t, n)
	once(t, c)
	if diff := cmp.Diff([]string{"container e", "stop s2", "sandbox s2"}, n.done()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if log.lines("container c1 failed") != 1 {
		t.Errorf("not logged: %s", &log.buf)
	}
}

func TestAContainerOfUnknownStateThatDoesNotEndStays(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]bool{"of a pod that lives on": false, "of a pod that is gone": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNode()
			n.add("u", []string{"c2 a exited s", "c1 a unknown s"}, []string{"s ready"})
			if gone {
				n.removable["u"] = "files"
			}
			n.fail["end c1"] = true
			c, log := newCollector(t, n)
			once(t, c)
			for _, call := range n.done() {
				if call == "container c1" || call == "directory u" {
					t.Errorf("done: %v", n.done())
				}
			}
			if log.lines("end c1 failed") != 1 {
				t.Errorf("not logged: %s", &log.buf)
			}
		})
	}
}
