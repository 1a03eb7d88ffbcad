package wasm

// NodeFacts is what is known of the node. A plugin must not see more in it
// than its policy's tenant may: who asks leaves the pods of others out.
type NodeFacts struct {
	Labels map[string]string
	// Allocatable are quantities by resource: what pods may use.
	Allocatable map[string]string
	// Pods come in an order that does not depend on time.
	Pods []NodePod
}

// NodePod is what is known of a pod on the node.
type NodePod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	// Source is the source's name.
	Source   string            `json:"source"`
	Labels   map[string]string `json:"labels,omitempty"`
	Priority int32             `json:"priority"`
	// Requests are quantities by resource, summed over the pod.
	Requests  map[string]string `json:"requests,omitempty"`
	HostPorts []int32           `json:"hostPorts,omitempty"`
}

// node is what plugins see of the node, by the names of docs/abi.md.
type node struct {
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels,omitempty"`
	Allocatable map[string]string `json:"allocatable,omitempty"`
	Pods        []NodePod         `json:"pods,omitempty"`
}
