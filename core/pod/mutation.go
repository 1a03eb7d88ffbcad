package pod

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// Mutation describes what policies changed in a pod that they admitted. Like its verdict it is
// immutable.
type Mutation struct {
	// By are the policies that changed something, in the order in which they did.
	By []Mutator `json:"by"`
	// Instance is the Instance of the pod from its source, and FinalHash is the FinalHash of Final.
	Instance  string `json:"instance"`
	FinalHash string `json:"finalHash"`
	// Final is the version of the pod after all changes that was judged. It is nil in a mutation
	// that is only displayed.
	Final *v1.Pod `json:"final,omitempty"`
	// Base is the FinalHash of the pod that a merge policy, the first of By, made before it was
	// judged; empty if there was no merge policy.
	Base string `json:"base,omitempty"`
}

// Mutator is a policy that changed a pod.
type Mutator struct {
	Policy string `json:"policy"`
	// Tenant is the tenant that owns the policy, empty for the operator.
	Tenant string `json:"tenant,omitempty"`
	// Changed are JSON pointers to the changed fields, sorted, at most MaxMutatorChanges. More is
	// how many further changes there are.
	Changed []string `json:"changed"`
	More    int      `json:"more,omitempty"`
}

// MaxMutatorChanges is how many changes of one policy are listed.
const MaxMutatorChanges = 32

// maxMutationText is the maximum length of Mutation.String, in bytes.
const maxMutationText = 1 << 10

// Of applies the mutation to a later version of the pod from its source. Spec, labels and
// annotations are those of Final: if the source changes them, policy judges the pod again.
// Everything else is from p: its status, its deletion, and the annotations that only this node
// writes. The result shares memory with p and Final and must not be modified. A nil mutation
// returns p itself.
func (m *Mutation) Of(p *v1.Pod) *v1.Pod {
	if m == nil {
		return p
	}
	q := &v1.Pod{TypeMeta: p.TypeMeta, ObjectMeta: p.ObjectMeta, Spec: m.Final.Spec, Status: p.Status}
	q.Labels = m.Final.Labels
	q.Annotations = make(map[string]string, len(m.Final.Annotations))
	// Only a node writes annotations with configPrefix, never a policy.
	for key, value := range m.Final.Annotations {
		if !strings.HasPrefix(key, configPrefix) {
			q.Annotations[key] = value
		}
	}
	for key, value := range p.Annotations {
		if strings.HasPrefix(key, configPrefix) {
			q.Annotations[key] = value
		}
	}
	return q
}

// configPrefix is the prefix of the annotations that say from where and when a node got a pod.
const configPrefix = "kubernetes.io/config."

// Then combines m, which was made before the pod was judged, with later, which was made when it was
// judged and may be nil. A nil m returns later.
func (m *Mutation) Then(later *Mutation) *Mutation {
	if m == nil {
		return later
	}
	both := *m
	both.Base = m.FinalHash
	if later != nil {
		both.By = slices.Concat(m.By, later.By)
		both.FinalHash, both.Final = later.FinalHash, later.Final
	}
	return &both
}

// BaseHash returns Base, empty for a nil mutation.
func (m *Mutation) BaseHash() string {
	if m == nil {
		return ""
	}
	return m.Base
}

// Usable returns why a stored mutation cannot belong to p, nil if it can.
func (m *Mutation) Usable(p *v1.Pod) error {
	switch {
	case m.Final == nil:
		return errors.New("the pod as policies changed it is missing")
	case m.Final.UID != p.UID || m.Final.Name != p.Name || m.Final.Namespace != p.Namespace:
		return fmt.Errorf("the pod as policies changed it is another pod, %s/%s", m.Final.Namespace, m.Final.Name)
	case len(m.Final.Spec.Containers) == 0:
		return errors.New("the pod as policies changed it has no containers")
	}
	return nil
}

// Shown returns the mutation without Final, for display. A nil mutation returns nil.
func (m *Mutation) Shown() *Mutation {
	if m == nil {
		return nil
	}
	shown := *m
	shown.Final = nil
	return &shown
}

// Hash returns FinalHash, empty for a nil mutation.
func (m *Mutation) Hash() string {
	if m == nil {
		return ""
	}
	return m.FinalHash
}

// String returns which policies changed which fields in one line, truncated if it is very long. It
// is empty for a nil mutation.
func (m *Mutation) String() string {
	if m == nil {
		return ""
	}
	parts := make([]string, len(m.By))
	for i := range m.By {
		parts[i] = m.By[i].String()
	}
	text := strings.Join(parts, "; ")
	if len(text) > maxMutationText {
		text = strings.ToValidUTF8(text[:maxMutationText], "") + "…"
	}
	return text
}

// String returns what the policy changed.
func (m *Mutator) String() string {
	name := m.Policy
	if m.Tenant != "" {
		name += " of tenant " + m.Tenant
	}
	text := name + " changed " + strings.Join(m.Changed, ", ")
	if m.More > 0 {
		text += fmt.Sprintf(" and %d more", m.More)
	}
	return text
}
