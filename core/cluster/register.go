package cluster

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/kube"
)

// The delays between attempts to register, as in a kubelet.
const (
	firstRegistration = 100 * time.Millisecond
	lastRegistration  = 7 * time.Second
)

// followNode registers the node, follows its object at the API server, and registers it again when
// the object is gone.
func (m *Member) followNode(ctx context.Context) {
	if !m.registerNode(ctx) {
		return
	}
	problems := &trouble{log: m.log, what: "node object"}
	missing := make(chan struct{}, 1)
	inner, cancel := context.WithCancel(ctx)
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		m.cfg.Client.Follow(inner, &kube.Selection{
			GroupVersion: v1.SchemeGroupVersion, Resource: "nodes",
			FieldSelector: fields.OneTermEqualSelector("metadata.name", m.name).String(),
			Object:        &v1.Node{}, List: &v1.NodeList{},
			Good: func() {},
			Bad:  func(err error) { m.log.Debug("node object cannot be followed", "err", err) },
		}, &nodeStore{take: m.takeRemote, missing: missing})
	}()
	defer func() { cancel(); <-followed }()
	for {
		select {
		case <-ctx.Done():
			return
		case <-missing:
			m.log.Warn("the node's object was deleted at the API server; registering it again", "node", m.name)
			m.takeRemote(nil)
			if !m.registerNode(ctx) {
				return
			}
			problems.note(nil)
		}
	}
}

// registerNode creates or updates the node's object, and retries until that succeeds. It returns
// false if ctx ended first.
func (m *Member) registerNode(ctx context.Context) bool {
	problems := &trouble{log: m.log, what: "registration"}
	for delay := firstRegistration; ; delay = min(2*delay, lastRegistration) {
		err := m.registerOnce(ctx)
		if ctx.Err() != nil {
			return false
		}
		problems.note(err)
		if err == nil {
			return true
		}
		if !sleep(ctx, delay, 0.1) {
			return false
		}
	}
}

func (m *Member) registerOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := m.cfg.Client.CheckServer(ctx); err != nil {
		return err
	}
	is, _ := m.cfg.Node.Get()
	made := &v1.Node{}
	err := m.cfg.Client.Request(http.MethodPost, v1.SchemeGroupVersion).Resource("nodes").Body(m.registration(is)).Do(ctx).Into(made)
	if err == nil {
		m.log.Info("node registered", "node", m.name, "server", m.cfg.Client.Server())
		m.tellChanges(&v1.NodeStatus{}, &made.Status)
		m.takeRemote(made)
		return nil
	}
	if !apierrors.IsAlreadyExists(err) && !apierrors.IsForbidden(err) {
		return m.cfg.Client.Explain(err)
	}
	there, getErr := m.getNode(ctx)
	if getErr != nil {
		return m.cfg.Client.Explain(err)
	}
	if patch := labelPatch(there, m.labels); patch != nil {
		text, err := json.Marshal(patch)
		if err != nil {
			return err
		}
		if err := m.cfg.Client.Request(http.MethodPatch, v1.SchemeGroupVersion).Resource("nodes").Name(m.name).
			SetHeader("Content-Type", string(types.StrategicMergePatchType)).Body(text).Do(ctx).Into(there); err != nil {
			return m.cfg.Client.Explain(err)
		}
	}
	m.tellRegistered(&there.Status)
	m.takeRemote(there)
	return nil
}

func (m *Member) getNode(ctx context.Context) (*v1.Node, error) {
	n := &v1.Node{}
	err := m.cfg.Client.Request(http.MethodGet, v1.SchemeGroupVersion).Resource("nodes").Name(m.name).Do(ctx).Into(n)
	return n, err
}

// registration returns the object with which the node is registered.
func (m *Member) registration(is *v1.Node) *v1.Node {
	n := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: is.Name, Labels: m.labels, Annotations: m.annotations},
		Spec:       v1.NodeSpec{Taints: m.cfg.Taints},
	}
	is.Status.DeepCopyInto(&n.Status)
	beat(&n.Status, m.cfg.Now())
	return n
}

// labelPatch returns a patch that sets the labels of this node on an existing object; nil if the
// object has them. Labels that others wrote stay. Taints stay, too: the configured ones apply only
// to the first registration.
func labelPatch(there *v1.Node, labels map[string]string) map[string]any {
	lacks := map[string]string{}
	for key, value := range labels {
		if is, ok := there.Labels[key]; !ok || is != value {
			lacks[key] = value
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	return map[string]any{"metadata": map[string]any{"labels": lacks}}
}

// takeRemote stores the API server's copy of the node; nil if there is none. Its labels,
// annotations and taints become the node's: a cluster's administrator changes them at the API
// server.
func (m *Member) takeRemote(n *v1.Node) {
	m.mu.Lock()
	m.remote = n
	m.mu.Unlock()
	if n == nil {
		return
	}
	m.cfg.Node.Update(func(is *v1.Node) { given(n, is) })
	m.remember(n)
	m.register.Do(func() { close(m.registered) })
	if is, _ := m.cfg.Node.Get(); !sameConditions(&n.Status, &is.Status) {
		select {
		case m.report <- struct{}{}:
		default: // the one that waits says it too
		}
	}
}

// given copies to a node the fields of the API server's copy that others may change.
func given(there, is *v1.Node) {
	is.UID = there.UID
	is.Labels, is.Annotations = maps.Clone(there.Labels), maps.Clone(there.Annotations)
	is.Spec = *there.Spec.DeepCopy()
}

// remember stores the fields that others may change, if they differ from the stored ones.
func (m *Member) remember(n *v1.Node) {
	next := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name}}
	given(n, next)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stored != nil && equality.Semantic.DeepEqual(m.stored, next) {
		return
	}
	if err := m.cfg.Memory.Store(next); err != nil {
		m.log.Warn("the node's labels and taints of the cluster are not saved; a restart without the API server loses them", "err", err)
		return
	}
	m.stored = next
}

// recall applies the stored fields to the node, with its current own labels.
func (m *Member) recall() {
	n, err := m.cfg.Memory.Load()
	if err != nil {
		m.log.Warn("the node's labels and taints of the cluster cannot be read; they are unknown until the node is registered", "err", err)
	}
	if n == nil || n.Name != m.name {
		return
	}
	m.stored = n
	m.cfg.Node.Update(func(is *v1.Node) {
		given(n, is)
		if is.Labels == nil {
			is.Labels = map[string]string{}
		}
		maps.Copy(is.Labels, m.labels)
	})
}

// serverCopy returns the API server's copy of the node, nil if there is none. It is shared.
func (m *Member) serverCopy() *v1.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.remote
}

// nodeStore receives one node from kube.Client.Follow.
type nodeStore struct {
	take    func(*v1.Node)
	missing chan struct{}
}

// Replace receives a list: the node, or none.
func (s *nodeStore) Replace(list []any, _ string) error {
	if len(list) == 0 {
		return s.Delete(nil)
	}
	return s.Update(list[0])
}

// Add receives a new object.
func (s *nodeStore) Add(item any) error { return s.Update(item) }

// Update receives a new version.
func (s *nodeStore) Update(item any) error {
	s.take(item.(*v1.Node))
	return nil
}

// Delete reports that the object is gone.
func (s *nodeStore) Delete(any) error {
	select {
	case s.missing <- struct{}{}:
	default: // the one that waits says it too
	}
	return nil
}

// Resync implements kube.Store and does nothing.
func (s *nodeStore) Resync() error { return nil }
