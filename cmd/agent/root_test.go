package main

import (
	"testing"
)

func TestWrongUsageExitsWithTwoAndNamesTheHelp(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"usage-unknown-command":  {"gett"},
		"usage-kubectl-logs":     {"logs", "-f", "web"},
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
		"usage-top-nothing":      {"top"},
		"usage-top-output":       {"top", "pods", "-o", "name"},
		"usage-top-sort":         {"top", "pods", "--sort-by", "age"},
		"usage-top-node":         {"top", "node", "edge"},
		"usage-release-nothing":  {"release"},
		"usage-release-two":      {"release", "default/web", "default/db"},
		"usage-release-nowhere":  {"release", "web"},
		"usage-release-no-name":  {"release", "default/"},
		"usage-logs-tail":        {"logs", "shop/web", "--tail", "-2"},
		"usage-logs-since":       {"logs", "shop/web", "--since", "5m", "--since-time", "2026-01-02T15:04:05Z"},
		"usage-logs-since-none":  {"logs", "shop/web", "--since", "0s"},
		"usage-logs-since-time":  {"logs", "shop/web", "--since-time", "yesterday"},
		"usage-logs-limit":       {"logs", "shop/web", "--limit-bytes", "-1"},
		"usage-logs-two":         {"logs", "shop/web", "main", "-c", "side"},
		"usage-logs-nothing":     {"logs"},
		"usage-exec-nothing":     {"exec", "shop/web"},
		"usage-exec-no-dash":     {"exec", "shop/web", "ls"},
		"usage-exec-no-command":  {"exec", "shop/web", "--"},
		"usage-exec-no-pod":      {"exec", "--", "ls"},
		"usage-attach-nothing":   {"attach"},
		"usage-attach-two":       {"attach", "shop/web", "main"},
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
		"help-logs":          {"logs", "--help"},
		"help-exec":          {"exec", "--help"},
		"help-attach":        {"attach", "--help"},
		"help-port-forward":  {"port-forward", "--help"},
		"help-release":       {"release", "--help"},
		"help-top":           {"top", "--help"},
		"help-top-pods":      {"top", "po", "--help"},
		"help-top-node":      {"top", "node", "--help"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, wardlet(t.Context(), args...))
		})
	}
}
