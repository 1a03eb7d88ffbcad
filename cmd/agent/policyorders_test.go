package main

import "testing"

func TestPolicyOrders(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"policy-reload":               {"policy", "reload"},
		"policy-retry":                {"policy", "retry"},
		"policy-rollback":             {"policy", "rollback"},
		"policy-reload-refused":       {"policy", "reload", "--tenant", "a"},
		"policy-rollback-none":        {"policy", "rollback", "--tenant", "b"},
		"policy-confirm":              {"policy", "confirm", "p"},
		"policy-confirm-content":      {"policy", "confirm", "p", "--sha256", "0123456789ab", "-o", "json"},
		"policy-reload-json":          {"policy", "reload", "-o", "json"},
		"policy-reload-refused-json":  {"policy", "reload", "--tenant", "a", "-o", "json"},
		"policy-retry-yaml":           {"policy", "retry", "-o", "yaml"},
		"policy-rollback-json":        {"policy", "rollback", "-o", "json"},
		"policy-rollback-none-json":   {"policy", "rollback", "--tenant", "b", "-o", "json"},
		"policy-confirm-json":         {"policy", "confirm", "p", "-o", "json"},
		"policy-confirm-other-yaml":   {"policy", "confirm", "p", "--tenant", "a", "-o", "yaml"},
		"usage-policy-reload-output":  {"policy", "reload", "-o", "wide"},
		"usage-policy-confirm-output": {"policy", "confirm", "p", "-o", "wide"},
		"policy-confirm-none":         {"policy", "confirm", "p", "--tenant", "b"},
		"policy-confirm-other":        {"policy", "confirm", "p", "--tenant", "a"},
		"policy-confirm-what":         {"policy", "confirm"},
		"help-policy-confirm":         {"policy", "confirm", "--help"},
		"policy-reload-extra":         {"policy", "reload", "a"},
		"help-policy-reload":          {"policy", "reload", "--help"},
		"help-policy-retry":           {"policy", "retry", "--help"},
		"help-policy-rollback":        {"policy", "rollback", "--help"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, _ := serve(t, &knowledge{})
			golden(t, name, wardlet(t.Context(), append(args, "--socket", socket)...), socket, "SOCKET")
		})
	}
}
