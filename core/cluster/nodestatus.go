package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/kube"
)

// The timing of node statuses is a kubelet's. Changes are sent at once. Without changes, the status
// is sent again after reportAgain. After a change that time is randomized, so that the nodes of a
// cluster do not send at the same time.
const (
	reportRetry    = 10 * time.Second
	reportAgain    = 5 * time.Minute
	reportAttempts = 5
)

// reportNode writes the node's status until ctx is done.
func (m *Member) reportNode(ctx context.Context) {
	select {
	case <-m.registered:
	case <-ctx.Done():
		return
	}
	problems := &trouble{log: m.log, what: "node status"}
	failures, byChange := 0, true
	for {
		changed := m.cfg.Node.Changed()
		next := reportAgain
		if byChange {
			next = spread(reportAgain, 0.5)
		}
		err := m.reportOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		problems.note(err)
		if err != nil {
			// A dead connection looks like a server that does not answer.
			if failures++; failures%reportAttempts == 0 {
				m.cfg.Client.CloseIdle()
			}
			next = reportRetry
		} else {
			failures = 0
		}
		timer := time.NewTimer(next)
		byChange = true
		select {
		case <-ctx.Done():
		case <-changed:
		case <-m.report: // the API server has another status, for example after the node lifecycle controller wrote it
		case <-timer.C:
			byChange = false
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// reportOnce writes the current status.
func (m *Member) reportOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	there := m.serverCopy()
	if there == nil {
		return nil // it is being registered, with its status
	}
	is, _ := m.cfg.Node.Get()
	next := &v1.Node{ObjectMeta: there.ObjectMeta, Spec: there.Spec, Status: nodeStatus(there, is, m.cfg.Now())}
	patch, err := kube.NodeStatus.Patch(there, next)
	if err != nil || patch == nil {
		return err
	}
	text, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	written := &v1.Node{}
	if err := m.cfg.Client.Request(http.MethodPatch, v1.SchemeGroupVersion).Resource("nodes").Name(m.name).SubResource("status").
		SetHeader("Content-Type", string(types.StrategicMergePatchType)).Body(text).Do(ctx).Into(written); err != nil {
		return m.cfg.Client.Explain(err)
	}
	m.tellChanges(&there.Status, &next.Status)
	if m.serverCopy() == there { // else the watch has delivered a newer one, and will deliver this one
		m.takeRemote(written)
	}
	return nil
}

// nodeStatus returns the status for the API server: the node's own, with conditions that others
// wrote.
func nodeStatus(there, is *v1.Node, now time.Time) v1.NodeStatus {
	st := *there.Status.DeepCopy()
	own := is.Status.DeepCopy()
	beat(own, now)
	st.Capacity, st.Allocatable, st.Addresses, st.NodeInfo, st.Images = own.Capacity, own.Allocatable, own.Addresses, own.NodeInfo, own.Images
	st.DaemonEndpoints, st.RuntimeHandlers, st.Features, st.DeclaredFeatures = own.DaemonEndpoints, own.RuntimeHandlers, own.Features, own.DeclaredFeatures
	for i := range own.Conditions {
		c := own.Conditions[i]
		at := slices.IndexFunc(st.Conditions, func(o v1.NodeCondition) bool { return o.Type == c.Type })
		if at < 0 {
			st.Conditions = append(st.Conditions, c)
		} else {
			st.Conditions[at] = c
		}
	}
	return st
}

// sameConditions reports whether the API server has the same conditions as the node.
func sameConditions(there, is *v1.NodeStatus) bool {
	for i := range is.Conditions {
		c := &is.Conditions[i]
		if !slices.ContainsFunc(there.Conditions, func(o v1.NodeCondition) bool { return o.Type == c.Type && o.Status == c.Status }) {
			return false
		}
	}
	return true
}

// beat sets the heartbeat times of the node's own conditions.
func beat(st *v1.NodeStatus, now time.Time) {
	for i := range st.Conditions {
		st.Conditions[i].LastHeartbeatTime = metav1.NewTime(now)
	}
}
