package main

import (
	"testing"
)

func TestWrongUsageExitsWithTwoAndNamesTheHelp(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"usage-unknown-command":  {"gett"},
		"usage-kubectl-logs":     {"logs", "-f", "web"},
		"usage-kubectl-describe": {"describe", "pod", "web", "-n", "shop"},
		"usage-unknown-shell":    {"completion", "foo"},
		"usage-no-shell":         {"completion"},
		"usage-unknown-resource": {"get", "pdos"},
		"usage-get-nothing":      {"get"},
		"usage-unknown-flag":     {"get", "pods", "--wdie"},
		"usage-unknown-output":   {"get", "pods", "-o", "xml"},
		"usage-source-output":    {"get", "sources", "-o", "xml"},
		"usage-version-output":   {"version", "-o", "wide"},
		"usage-run-arguments":    {"run", "agent.toml"},
		"usage-check-arguments":  {"check", "agent.toml"},
		"usage-check-timeout":    {"check", "--timeout", "0s"},
		"usage-policies-output":  {"get", "policies", "-o", "xml"},
		"usage-decisions-output": {"get", "decisions", "-o", "xml"},
		"usage-updates-output":   {"get", "updates", "-o", "xml"},
		"usage-events-output":    {"get", "events", "-o", "xml"},
		"usage-events-for":       {"get", "events", "--for", "web"},
		"usage-events-for-none":  {"get", "events", "--for", "pod/"},
		"usage-events-for-node":  {"get", "events", "--for", "node/edge"},
		"usage-release-nothing":  {"release"},
		"usage-release-two":      {"release", "default/web", "default/db"},
		"usage-release-nowhere":  {"release", "web"},
		"usage-release-no-name":  {"release", "default/"},
		"usage-release-differs":  {"release", "-n", "shop", "default/web"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, wardlet(t.Context(), args...))
		})
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"help":               {},
		"help-run":           {"run", "--help"},
		"help-check":         {"check", "--help"},
		"help-get":           {"get", "--help"},
		"help-get-pods":      {"get", "po", "--help"},
		"help-get-events":    {"get", "ev", "--help"},
		"help-get-policies":  {"get", "policy", "--help"},
		"help-get-decisions": {"get", "decision", "--help"},
		"help-get-sources":   {"help", "get", "source"},
		"help-get-updates":   {"get", "update", "--help"},
		"help-release":       {"release", "--help"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, wardlet(t.Context(), args...))
		})
	}
}
