package abi

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/wasm"
	"github.com/wardlet/wardlet/core/policy/wasm/abi"
)

// policy is the policy of a case's plugin.
type policy struct {
	Hooks        []string       `json:"hooks"`
	Settings     map[string]any `json:"settings"`
	MemoryPages  uint32         `json:"memory_pages"`
	Fuel         int64          `json:"fuel"`
	OutputBytes  int            `json:"output_bytes"`
	Capabilities []string       `json:"capabilities"`
	Node         string         `json:"node"`
	// Log is the lowest level that the agent logs.
	Log slog.Level `json:"log"`
}

// policy returns a case's policy. Settings that the case leaves out have the set's defaults.
func (s *set) policy(c *testCase) (p policy, err error) {
	for _, part := range []json.RawMessage{s.Defaults.Policy, c.Policy} {
		if len(part) > 0 && err == nil {
			err = strictly(part, &p)
		}
	}
	return p, err
}

// options returns the engine's options for a policy.
func (p *policy) options(name string) (wasm.Options, error) {
	settings, err := tableOf(p.Settings)
	return wasm.Options{
		Policy: name, Hooks: p.Hooks, Settings: settings, MemoryPages: p.MemoryPages, Fuel: p.Fuel, OutputBytes: p.OutputBytes,
		Node: p.Node, Capabilities: p.Capabilities,
	}, err
}

func tableOf(table map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for key, value := range table {
		v, err := settingOf(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		out[key] = v
	}
	return out, nil
}

// settingOf returns a setting as TOML decodes it. A value that JSON does not have is written as an
// object with one key: {"@time": …} or {"@float": "inf"}.
func settingOf(value any) (any, error) {
	switch v := value.(type) {
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return v.Float64()
		}
		return v.Int64()
	case []any:
		list := make([]any, len(v))
		for i := range v {
			element, err := settingOf(v[i])
			if err != nil {
				return nil, err
			}
			list[i] = element
		}
		return list, nil
	case map[string]any:
		if text, ok := v["@time"].(string); ok {
			return time.Parse(time.RFC3339, text)
		}
		if text, ok := v["@float"].(string); ok {
			return strconv.ParseFloat(text, 64)
		}
		return tableOf(v)
	}
	return value, nil
}

// question is a question, by the roots of the ABI's paths.
type question struct {
	Request    request        `json:"request"`
	Object     string         `json:"object"`
	OldObject  string         `json:"oldObject"`
	Node       *abi.NodeFacts `json:"node"`
	Candidates []candidate    `json:"candidates"`
}

type request struct {
	Hook              abi.Hook  `json:"hook"`
	Operation         api.Op    `json:"operation"`
	Source            string    `json:"source"`
	Kind              string    `json:"kind"`
	Document          string    `json:"document"`
	Replaces          types.UID `json:"replaces"`
	Tenant            string    `json:"tenant"`
	Changed           []string  `json:"changed"`
	Time              int64     `json:"time"`
	ClockSynchronized bool      `json:"clockSynchronized"`

	Connection *api.Connection `json:"connection"`
	References []api.Reference `json:"references"`
}

type candidate struct {
	Object    string `json:"object"`
	Source    string `json:"source"`
	Kind      string `json:"kind"`
	Document  string `json:"document"`
	Running   bool   `json:"running"`
	Restored  bool   `json:"restored"`
	FirstSeen int64  `json:"firstSeen"`
}

// question returns a call's question. Fields that the call leaves out have the set's defaults.
func (s *set) question(c *call) (q question, err error) {
	for _, part := range []json.RawMessage{s.Defaults.Ask, c.Ask} {
		if len(part) > 0 && err == nil {
			err = strictly(part, &q)
		}
	}
	return q, err
}

// pod decodes a pod of the set by its name; it returns nil for an empty name.
func (s *set) pod(name string) (*v1.Pod, error) {
	if name == "" {
		return nil, nil
	}
	text, ok := s.Pods[name]
	if !ok {
		return nil, fmt.Errorf("no pod %q: there are %q", name, slices.Sorted(maps.Keys(s.Pods)))
	}
	p := &v1.Pod{}
	if err := strictly(text, p); err != nil {
		return nil, fmt.Errorf("pod %s: %w", name, err)
	}
	return p, nil
}

// about returns the question to the hooks admit, filter and connect.
func (s *set) about(q *question) (*abi.Request, error) {
	object, err := s.pod(q.Object)
	if err != nil {
		return nil, err
	}
	old, err := s.pod(q.OldObject)
	if err != nil {
		return nil, err
	}
	r := &q.Request
	return &abi.Request{
		Question: &api.Question{
			Op: r.Operation, Pod: object, Old: old, Replaces: r.Replaces,
			Origin: api.Origin{Source: r.Source, Document: r.Document}, Connection: r.Connection,
		},
		Kind: r.Kind, Tenant: r.Tenant, Changed: r.Changed, Time: time.UnixMilli(r.Time), ClockSynchronized: r.ClockSynchronized,
		Node: q.Node, References: r.References,
	}, nil
}

// choice returns the question to the hook merge.
func (s *set) choice(q *question) (*abi.MergeRequest, error) {
	current, err := s.pod(q.OldObject)
	if err != nil {
		return nil, err
	}
	m := &abi.MergeRequest{
		Current: current, Tenant: q.Request.Tenant, Time: time.UnixMilli(q.Request.Time),
		ClockSynchronized: q.Request.ClockSynchronized, Node: q.Node,
	}
	for _, c := range q.Candidates {
		object, err := s.pod(c.Object)
		if err != nil {
			return nil, err
		}
		seen := time.Time{}
		if c.FirstSeen != 0 {
			seen = time.UnixMilli(c.FirstSeen)
		}
		m.Candidates = append(m.Candidates, abi.Candidate{
			Pod: object, Origin: api.Origin{Source: c.Source, Document: c.Document}, Kind: c.Kind,
			Running: c.Running, Restored: c.Restored, FirstSeen: seen,
		})
	}
	return m, nil
}
