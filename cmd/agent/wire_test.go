package main

import (
	"strings"
	"testing"
)

// TestGet_hasTheSameFieldsAsJSON compares objects in which every field has a value with recorded
// ones, because scripts read the fields by name. Pods are as in the Kubernetes API.
func TestGet_hasTheSameFieldsAsJSON(t *testing.T) {
	t.Parallel()
	socket := answering(t, "x")
	for _, line := range []string{
		"get updates", "get sources", "get conflicts", "get events", "get policies", "get decisions", "explain pod x/x", "version",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			golden(t, "wire-"+strings.ReplaceAll(strings.TrimSuffix(line, " x/x"), " ", "-"), executed(t, socket, append(strings.Fields(line), "-o", "json")))
		})
	}
}
