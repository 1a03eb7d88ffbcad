package cluster

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// conditionEvents are the reasons of the events that a condition has become true or false, as in a
// kubelet.
var conditionEvents = map[v1.NodeConditionType]map[v1.ConditionStatus]string{
	v1.NodeReady:          {v1.ConditionTrue: "NodeReady", v1.ConditionFalse: "NodeNotReady"},
	v1.NodeMemoryPressure: {v1.ConditionTrue: "NodeHasInsufficientMemory", v1.ConditionFalse: "NodeHasSufficientMemory"},
	v1.NodeDiskPressure:   {v1.ConditionTrue: "NodeHasDiskPressure", v1.ConditionFalse: "NodeHasNoDiskPressure"},
	v1.NodePIDPressure:    {v1.ConditionTrue: "NodeHasInsufficientPID", v1.ConditionFalse: "NodeHasSufficientPID"},
}

// tellRegistered records the events of an agent's start: one for each condition of the node at the
// API server. It leaves out Ready, which has an event only when it changes.
func (m *Member) tellRegistered(there *v1.NodeStatus) {
	before := *there
	before.Conditions = slices.DeleteFunc(slices.Clone(there.Conditions), func(c v1.NodeCondition) bool { return c.Type != v1.NodeReady })
	m.tellChanges(&before, there)
}

// tellChanges records the events for changes of the node's status at the API server.
func (m *Member) tellChanges(before, after *v1.NodeStatus) {
	if was, is := before.NodeInfo.BootID, after.NodeInfo.BootID; was != "" && was != is {
		m.cfg.Events.NodeEvent(v1.EventTypeWarning, "Rebooted", fmt.Sprintf("Node %s has been rebooted, boot id: %s", m.name, is))
	}
	for i := range after.Conditions {
		c := &after.Conditions[i]
		at := slices.IndexFunc(before.Conditions, func(o v1.NodeCondition) bool { return o.Type == c.Type })
		if at >= 0 && before.Conditions[at].Status == c.Status {
			continue
		}
		if at < 0 && c.Type == v1.NodeReady && c.Status != v1.ConditionTrue {
			continue // a new node starts as not ready
		}
		if reason := conditionEvents[c.Type][c.Status]; reason != "" {
			m.cfg.Events.NodeEvent(v1.EventTypeNormal, reason, fmt.Sprintf("Node %s status is now: %s", m.name, reason))
		}
	}
}
