package pod

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// Mutation is what policies changed of a pod that they let pass. Like its
// verdict it never changes.
type Mutation struct {
	// By are the policies that changed something, in the order they did.
	By []Mutator `json:"by"`
	// Instance is the Instance of the pod as its source gave it, FinalHash is
	// FinalHash of Final.
	Instance  string `json:"instance"`
	FinalHash string `json:"finalHash"`
	// Final is the version that was judged as it is after all changes. It is nil
	// in what is only shown.
	Final *v1.Pod `json:"final,omitempty"`
	// Base is FinalHash of what a merge policy, the first of By, had made of the
	// pod before it was judged; empty where none had made anything of it.
	Base string `json:"base,omitempty"`
}

// Mutator is a policy that changed a pod.
type Mutator struct {
	Policy string `json:"policy"`
	// Tenant is whose policy it is, empty for the operator's.
	Tenant string `json:"tenant,omitempty"`
	// Changed are JSON pointers to what it changed, sorted, at most
	// MaxMutatorChanges; More is how many there are beyond that.
	Changed []string `json:"changed"`
	More    int      `json:"more,omitempty"`
}

// MaxMutatorChanges is how many changes of one policy are listed.
const MaxMutatorChanges = 32

// maxMutationText bounds Mutation.String, in bytes.
const maxMutationText = 1 << 10

// Of returns a later version of the pod, as its source has it, in the form in
// which policies let the pod pass. Spec, labels and annotations are those of
// Final: policy judges a version anew where the source changes them. All else is
// p's: its status, whether it is to end, and what only this node annotates. What
// the result refers to is shared with both and must not be changed. A nil
// mutation returns p itself.
func (m *Mutation) Of(p *v1.Pod) *v1.Pod {
	if m == nil {
		return p
	}
	q := &v1.Pod{TypeMeta: p.TypeMeta, ObjectMeta: p.ObjectMeta, Spec: m.Final.Spec, Status: p.Status}
	q.Labels = m.Final.Labels
	q.Annotations = make(map[string]string, len(m.Final.Annotations))
	// Only a node writes what begins with configPrefix, and no policy.
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

// configPrefix begins the annotations that say where and when a node got a pod.
const configPrefix = "kubernetes.io/config."

// Then is what became of a pod of which m was made before it was judged and then
// judged, which made it later; later may be nil. A nil m returns later.
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

// BaseHash is Base, empty for a nil mutation.
func (m *Mutation) BaseHash() string {
	if m == nil {
		return ""
	}
	return m.Base
}

// Usable says what keeps a mutation that was stored from being one of p, nil
// for nothing.
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

// Shown is the mutation without the pod, for display. A nil one returns nil.
func (m *Mutation) Shown() *Mutation {
	if m == nil {
		return nil
	}
	shown := *m
	shown.Final = nil
	return &shown
}

// Hash is FinalHash, empty for a nil mutation.
func (m *Mutation) Hash() string {
	if m == nil {
		return ""
	}
	return m.FinalHash
}

// String says in one line who changed what, cut where it is very long. It is
// empty for a nil mutation.
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

// String says what the policy changed.
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
