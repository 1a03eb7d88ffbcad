package main

import "testing"

func TestPolicyOrders(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"policy-reload":         {"policy", "reload"},
		"policy-retry":          {"policy", "retry"},
		"policy-rollback":       {"policy", "rollback"},
		"policy-reload-refused": {"policy", "reload", "--tenant", "a"},
		"policy-rollback-none":  {"policy", "rollback", "--tenant", "b"},
		"policy-reload-extra":   {"policy", "reload", "a"},
		"help-policy-reload":    {"policy", "reload", "--help"},
		"help-policy-retry":     {"policy", "retry", "--help"},
		"help-policy-rollback":  {"policy", "rollback", "--help"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{})
			golden(t, name, wardlet(t.Context(), append(args, "--socket", socket)...), socket, "SOCKET")
		})
	}
}
