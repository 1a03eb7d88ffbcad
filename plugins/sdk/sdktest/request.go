//go:build !wasip1

package sdktest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/projection"
)

// Request is a question about one pod, to the hooks admit, filter and connect.
type Request struct {
	// Pod is the pod to judge: JSON text (a string or []byte), or a value that
	// encoding/json can marshal. Unknown fields are errors.
	Pod any
	// Old is the version or the pod that was admitted before, in one of the same forms; nil
	// if there is none.
	Old any
	// Operation is ADD or UPDATE. If it is empty, it is UPDATE with Old, and ADD without. A
	// pod that replaces another pod is an UPDATE only for the hook filter.
	Operation string
	// Replaces is the UID of Old if Old is another pod.
	Replaces string
	// Source is the name of the pod's source, and Document the name of the document in the
	// source. Kind is the kind of the source: file, http or api. Each has a default.
	Source, Document, Kind string
	// Changed are the words for what an UPDATE changes (see package request).
	Changed []string
	// Tenant is the tenant that the pod belongs to, empty for the operator's pods.
	Tenant string
	// Node is the name of the node. Time is the time of the decision. Both have a default.
	Node string
	Time time.Time
	// ClockUnsynchronized: the node's clock is not known to be right.
	ClockUnsynchronized bool
	// Facts are facts about the node, nil if the agent has none.
	Facts *NodeFacts
	// References are facts about the ConfigMaps and Secrets that the pod names. Policies
	// see them only with the capability ReferencesRead.
	References []Reference
	// Connection is the connection about which the hook connect is asked. Other hooks have
	// none.
	Connection *Connection
}

// Reference are facts about an object that the pod names. Its JSON names are those of
// request.references.
type Reference struct {
	// Kind is ConfigMap (the default) or Secret.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Optional: the pod can run without the object.
	Optional bool `json:"optional"`
	// Keys and Digest are empty if there is no such object.
	Keys   []string `json:"keys,omitempty"`
	Digest string   `json:"digest,omitempty"`
}

// Connection is a connection that a user requests. Its JSON names are those of
// request.connection.
type Connection struct {
	// Kind is exec (the default), attach or portforward. Source is node-api (the default)
	// or socket.
	Kind   string `json:"kind"`
	Source string `json:"source"`
	// Container is empty for a portforward.
	Container string   `json:"container,omitempty"`
	Command   []string `json:"command,omitempty"`
	Ports     []int32  `json:"ports,omitempty"`
	// User defaults to test.
	User   string   `json:"user"`
	Groups []string `json:"groups,omitempty"`
}

// defaults returns the connection with defaults for its empty fields.
func (c *Connection) defaults() (*Connection, error) {
	if c == nil {
		return nil, errors.New("the connection is missing: set Connection")
	}
	full := *c
	full.Kind, full.Source, full.User = cmp.Or(c.Kind, connectionKinds[0]), cmp.Or(c.Source, connectionSources[0]), cmp.Or(c.User, "test")
	switch {
	case !slices.Contains(connectionKinds, full.Kind):
		return nil, fmt.Errorf("a connection of the kind %q: want one of %q", full.Kind, connectionKinds)
	case !slices.Contains(connectionSources, full.Source):
		return nil, fmt.Errorf("a connection from %q: want one of %q", full.Source, connectionSources)
	case full.Kind != connectionKinds[0] && len(full.Command) > 0:
		return nil, fmt.Errorf("a connection of the kind %q has no command", full.Kind)
	}
	return &full, nil
}

// Operations.
const (
	Add    = "ADD"
	Update = "UPDATE"

	connects = "CONNECT"
)

// The hooks.
const (
	hookAdmit   = "admit"
	hookMerge   = "merge"
	hookFilter  = "filter"
	hookConnect = "connect"
)

var (
	kinds             = []string{"file", "http", "api"}
	referenceKinds    = []string{"ConfigMap", "Secret"}
	connectionKinds   = []string{"exec", "attach", "portforward"}
	connectionSources = []string{"node-api", "socket"}

	words = []string{
		"labels", "annotations", "images", "resources", "containers", "tolerations", "deadline", "grace", "spec",
	}
)

func (r *Request) question(hook string) (*projection.Question, error) {
	if r.Pod == nil {
		return nil, errors.New("the pod is missing: set Pod")
	}
	q := &projection.Question{}
	var err error
	if q.Object, err = pod("Pod", r.Pod); err != nil {
		return nil, err
	}
	if q.OldObject, err = pod("Old", r.Old); err != nil {
		return nil, err
	}
	operation := r.Operation
	switch {
	case hook == hookConnect && (operation != "" || r.Old != nil):
		return nil, errors.New("a connection changes nothing: leave Operation and Old out")
	case hook == hookConnect:
		operation = connects
	case r.Connection != nil:
		return nil, fmt.Errorf("a connection is for the hook connect, not %s: leave it out", hook)
	case operation == "" && r.Old != nil && (r.Replaces == "" || hook == hookFilter):
		operation = Update
	case operation == "":
		operation = Add
	case operation != Add && operation != Update:
		return nil, fmt.Errorf("the operation is %q: want %s or %s", operation, Add, Update)
	}
	switch {
	case r.Replaces != "" && r.Old == nil:
		return nil, errors.New("a pod is replaced: Old must be the pod of that UID")
	case hook == hookFilter && operation == Add && r.Old != nil:
		return nil, errors.New("a new pod that is filtered has no version before it: leave Old out")
	case operation != Update && len(r.Changed) > 0:
		return nil, fmt.Errorf("only updates change something: Changed is %q, but the operation is %s", r.Changed, operation)
	}
	kind, err := sourceKind(r.Kind)
	if err != nil {
		return nil, err
	}
	more := map[string]any{
		"operation": operation, "replaces": r.Replaces, "kind": kind,
		"source": cmp.Or(r.Source, "test"), "document": cmp.Or(r.Document, "test.yaml#0"),
	}
	for _, word := range r.Changed {
		if !slices.Contains(words, word) {
			return nil, fmt.Errorf("nothing changes %q: want one of %q", word, words)
		}
		more["changed"] = r.Changed
	}
	if hook == hookConnect {
		if more["connection"], err = r.Connection.defaults(); err != nil {
			return nil, err
		}
	}
	references, err := referencesOf(r.References)
	if err != nil {
		return nil, err
	}
	if len(references) > 0 {
		more["references"] = references
	}
	c := circumstances{r.Tenant, r.Node, r.Time, r.ClockUnsynchronized, r.Facts}
	return q, c.fill(q, hook, more)
}

// referencesOf returns the references with defaults for their empty fields, in the agent's
// order.
func referencesOf(all []Reference) ([]Reference, error) {
	all = slices.Clone(all)
	for i := range all {
		r := &all[i]
		r.Kind = cmp.Or(r.Kind, referenceKinds[0])
		switch {
		case !slices.Contains(referenceKinds, r.Kind):
			return nil, fmt.Errorf("a reference of the kind %q: want one of %q", r.Kind, referenceKinds)
		case r.Name == "":
			return nil, errors.New("a reference has no name: set Name")
		case r.Digest == "" && len(r.Keys) > 0:
			return nil, fmt.Errorf("the %s %s has keys: set Digest, too", r.Kind, r.Name)
		}
	}
	slices.SortFunc(all, func(a, b Reference) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	return all, nil
}

func sourceKind(kind string) (string, error) {
	kind = cmp.Or(kind, kinds[0])
	if !slices.Contains(kinds, kind) {
		return "", fmt.Errorf("a source of the kind %q: want one of %q", kind, kinds)
	}
	return kind, nil
}
