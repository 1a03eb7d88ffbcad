package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

var usual = map[string]any{"level": "restricted"}

// container returns a container that complies with the restricted profile.
func container(name string) map[string]any {
	return map[string]any{"name": name, "image": "registry.example/" + name, "securityContext": map[string]any{
		"allowPrivilegeEscalation": false, "capabilities": map[string]any{"drop": []any{"ALL"}},
	}}
}

// change changes a pod.
type change func(pod map[string]any)

// pod returns a pod that complies with the restricted profile, and applies the changes to
// it.
func pod(changes ...change) map[string]any {
	p := map[string]any{
		"metadata": map[string]any{"name": "web", "namespace": "shop"},
		"spec": map[string]any{
			"securityContext": map[string]any{"runAsNonRoot": true, "seccompProfile": map[string]any{"type": "RuntimeDefault"}},
			"initContainers":  []any{container("init")},
			"containers":      []any{container("web")},
		},
	}
	for _, c := range changes {
		c(p)
	}
	return p
}

// set returns a change that sets a field of the pod. path has names and numbers with dots
// between them. Missing objects on the path are created.
func set(path string, value any) change {
	return func(p map[string]any) {
		at, last := descend(p, path)
		at[last] = value
	}
}

// drop returns a change that removes a field.
func drop(path string) change {
	return func(p map[string]any) {
		at, last := descend(p, path)
		delete(at, last)
	}
}

func descend(at map[string]any, path string) (within map[string]any, last string) {
	names := strings.Split(path, ".")
	for i := 0; i < len(names)-1; i++ {
		next := at[names[i]]
		if list, ok := next.([]any); ok {
			i++
			n, err := strconv.Atoi(names[i])
			if err != nil {
				return nil, path
			}
			next = list[n]
		}
		within, ok := next.(map[string]any)
		if !ok {
			within = map[string]any{}
			at[names[i]] = within
		}
		at = within
	}
	return at, names[len(names)-1]
}

// annotate returns a change that adds an annotation.
func annotate(key, value string) change {
	return func(p map[string]any) {
		metadata := p["metadata"].(map[string]any)
		all, ok := metadata["annotations"].(map[string]any)
		if !ok {
			all = map[string]any{}
			metadata["annotations"] = all
		}
		all[key] = value
	}
}

// violated returns the checks of a profile, such as "baseline:v1.30", that a pod violates.
func violated(t *testing.T, profile string, changes ...change) string {
	t.Helper()
	level, version, _ := strings.Cut(profile, ":")
	got := judge(t, map[string]any{"level": level, "version": version}, changes...)
	if (got.Answer == sdktest.Deny) != (got.Annotations[violations] != "") || got.Answer != sdktest.Deny && got.Answer != sdktest.Allow {
		t.Errorf("%s: %+v", profile, got)
	}
	return got.Annotations[violations]
}

func judge(t *testing.T, settings map[string]any, changes ...change) sdktest.Result {
	t.Helper()
	return sdktest.Load(t, settings).Admit(t, sdktest.Request{Pod: pod(changes...)})
}
