package main

import (
	"testing"

	"github.com/wardlet/wardlet/core/api"
)

func someObjects() []api.Object {
	return []api.Object{
		{Namespace: "shop", Name: "bad", Local: true, Document: "/etc/wardlet/objects/b.yaml#0", Err: "/etc/wardlet/objects/b.yaml:4: data[text]: expected a string, got a number; put it in quotes"},
		{Kind: "ConfigMap", Namespace: "shop", Name: "app", Known: true, Found: true, Keys: []string{"a", "b"}, Bytes: 300, Digest: "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", UsedBy: []string{"shop/web"}},
		{Kind: "ConfigMap", Namespace: "shop", Name: "app", Local: true, Document: "/etc/wardlet/objects/a.yaml#0", Known: true, Found: true, Keys: []string{"a"}, Bytes: 3},
		{Kind: "ConfigMap", Namespace: "shop", Name: "gone", Known: true, UsedBy: []string{"shop/web"}},
		{Kind: "RuntimeClass", Name: "gvisor", Known: true, Found: true, UsedBy: []string{"shop/a", "shop/b", "shop/c", "shop/d"}},
		{Kind: "Secret", Namespace: "shop", Name: "login", UsedBy: []string{"shop/web"}},
		{Kind: "Secret", Namespace: "shop", Name: "none", Local: true, Known: true, UsedBy: []string{"shop/db"}},
		{Kind: "Service", Namespace: "shop", Known: true, Found: true, Keys: []string{"web"}, UsedBy: []string{"shop/web"}, Err: "the API server: connection refused"},
	}
}

func TestGetObjects(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"get-objects":           {"objects"},
		"get-objects-named":     {"object", "app"},
		"get-objects-not-found": {"objects", "other"},
		"get-objects-name":      {"objects", "-o", "name"},
		"get-objects-wide":      {"objects", "-o", "wide"},
		"get-objects-json":      {"objects", "login", "-o", "json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{objects: someObjects()})
			golden(t, name, wardlet(t.Context(), append([]string{"get", "--socket", socket}, args...)...))
		})
	}
}
