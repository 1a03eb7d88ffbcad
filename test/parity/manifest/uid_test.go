package manifest

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/api"
)

// TestUIDs shows what the UID of a pod without a fixed UID depends on. Over HTTP, it depends on the
// node with Wardlet only. In a file, it depends on the file's name with a kubelet only.
func TestUIDs(t *testing.T) {
	t.Parallel()
	u := newUses()
	for _, text := range ancestors().texts {
		one, two := answers([]byte(text), place{api.KindHTTP, aURL.path, "node-1"}), answers([]byte(text), place{api.KindHTTP, aURL.path, "node-2"})
		for i := range min(len(one.theirs), len(two.theirs), len(one.ours), len(two.ours)) {
			if !derived(one, i) {
				continue
			}
			if one.theirs[i].UID != two.theirs[i].UID {
				t.Errorf("a kubelet's UID depends on the node: %s", one.theirs[i].Name)
			}
			if one.ours[i].UID == two.ours[i].UID {
				t.Errorf("Wardlet's UID is the same on another node: %s", one.ours[i].Name)
			}
			u.count("uid-http-node")
		}
		one, two = answers([]byte(text), aFile), answers([]byte(text), place{api.KindFile, "/manifests/other.yaml", aFile.node})
		for i := range min(len(one.theirs), len(two.theirs), len(one.ours), len(two.ours)) {
			if !derived(one, i) {
				continue
			}
			if one.theirs[i].UID == two.theirs[i].UID {
				t.Errorf("a kubelet's UID is the same in another file: %s", one.theirs[i].Name)
			}
			if one.ours[i].UID != two.ours[i].UID {
				t.Errorf("Wardlet's UID depends on the file's name: %s", one.ours[i].Name)
			}
			u.count("uid-path")
		}
	}
	for _, id := range ofUIDs {
		t.Logf("  %6d  %s", u.of(id), id)
		if u.of(id) < 5 {
			t.Errorf("%s: only %d pods", id, u.of(id))
		}
	}
}

// derived reports whether both computed the UID of a pod themselves.
func derived(s *subject, i int) bool {
	return s.theirs[i].UID != s.ours[i].UID && hex32.MatchString(string(s.theirs[i].UID)) && hex32.MatchString(string(s.ours[i].UID))
}

// TestReferences compares the errors about static pods that reference objects of an API server.
func TestReferences(t *testing.T) {
	t.Parallel()
	const says = "static pods may not reference "
	for _, c := range referenceCases {
		one := fieldCase{path: c.path, invalid: []string{c.value}, with: c.with}
		for _, m := range one.manifests(t) {
			for _, at := range kinds {
				s := answers(render(m.doc, at == aURL), at)
				if s.err == nil || len(s.faults) == 0 {
					t.Errorf("%s %s: a kubelet says %v, Wardlet %v", c.path, c.value, s.err, s.faults)
					continue
				}
				_, object, _ := strings.Cut(s.err.Error(), says)
				if !strings.HasPrefix(object, c.object) {
					t.Errorf("%s %s: a kubelet says %v", c.path, c.value, s.err)
				}
				told := s.faults[0].Error()
				if !strings.Contains(told, says+object) || !strings.Contains(told, c.path) {
					t.Errorf("%s %s: a kubelet says %v, Wardlet %v", c.path, c.value, s.err, told)
				}
			}
		}
	}
}
