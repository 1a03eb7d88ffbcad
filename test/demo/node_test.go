package main

import (
	"testing"
)

func TestParsePods(t *testing.T) {
	t.Parallel()
	pods, err := parsePods(`{"kind": "PodList", "items": [{"metadata": {"name": "a"}, "status": {"phase": "Running"}}]}`)
	if err != nil || len(pods) != 1 || pods["a"].Status.Phase != "Running" {
		t.Errorf("got %v, %v", pods, err)
	}
	if pods, err := parsePods(`{"kind": "List", "items": []}`); err != nil || len(pods) != 0 {
		t.Errorf("an empty list gives %v, %v", pods, err)
	}
	for name, list := range map[string]string{
		"no JSON": "No pods.", "a pod": `{"kind": "Pod"}`,
		"two pods of one name": `{"kind": "PodList", "items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "a"}}]}`,
	} {
		if pods, err := parsePods(list); err == nil {
			t.Errorf("%s: %v", name, pods)
		}
	}
}

func TestParsePID(t *testing.T) {
	t.Parallel()
	if pid, err := parsePID(map[string]string{"info": `{"sandboxID": "x", "pid": 4711}`}); err != nil || pid != 4711 {
		t.Errorf("got %d, %v", pid, err)
	}
	for _, info := range []string{"", "{}", `{"pid": 1}`, `{"pid": -1}`, `{"pid": "4711"}`} {
		if pid, err := parsePID(map[string]string{"info": info}); err == nil {
			t.Errorf("%q: %d", info, pid)
		}
	}
}

func FuzzParsePods(f *testing.F) {
	f.Add(`{"kind": "PodList", "items": [{"metadata": {"name": "a"}}]}`)
	f.Fuzz(func(t *testing.T, list string) {
		pods, err := parsePods(list)
		for name, p := range pods {
			if err != nil || p.Name != name {
				t.Errorf("%s: %v, %v", name, p.Name, err)
			}
		}
	})
}
