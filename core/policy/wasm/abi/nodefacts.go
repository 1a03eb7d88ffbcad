package abi

// NodeFacts are facts about the node. A plugin must not see more of them than its
// policy's tenant may: the caller leaves out the pods of other tenants.
type NodeFacts struct {
	Labels map[string]string
	// Allocatable is what pods may use: quantities by resource.
	Allocatable map[string]string
	// Pods are in an order that does not depend on time.
	Pods []NodePod
}

// NodePod describes a pod on the node.
type NodePod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	// Source is the name of the pod's source.
	Source   string            `json:"source"`
	Labels   map[string]string `json:"labels,omitempty"`
	Priority int32             `json:"priority"`
	// Requests are quantities by resource, summed over the pod.
	Requests  map[string]string `json:"requests,omitempty"`
	HostPorts []int32           `json:"hostPorts,omitempty"`
}

// node is the part of the facts that plugins see, by the names of docs/abi.md.
type node struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels,omitempty"`
	Allocatable map[string]string `json:"allocatable,omitempty"`
	Pods        []NodePod         `json:"pods,omitempty"`
}
