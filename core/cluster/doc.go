// Package cluster makes the agent a node of a Kubernetes cluster: it registers the node, updates
// its status and its lease, shows static pods as mirror pods, writes the statuses of pods to the API
// server, and stops pods that must not run while the node is disconnected.
//
// Comes in: the node object of the agent, which describes the node; statuses of pods, whose changes
// are reported by UID (Member.Changed); from the workers, the progress of pods that terminate. Goes
// out: requests to the API server; labels, taints and annotations that others set there, into the
// node object. Events are independent of Member and write events about pods and the node.
// Member.Run owns six goroutines and waits for them: one registers the node and follows its object,
// one writes its status, one renews its lease, one keeps the mirror pods, one writes the statuses of
// pods, one stops pods while the node is disconnected.
//
// # What is owed
//
// Pods whose newest status the server does not have yet are a set of UIDs. The status itself is
// read when it is sent, so that the newest is sent, and a change costs the same for any number of
// pods. After a restart, the set has all pods of the node: the status of each is compared with the
// status from the API server, and is sent only if they differ.
//
// A status is sent with the pod's UID as precondition. If the pod is gone from the server, or
// replaced by another one, its UID leaves the set. If the server refuses or does not answer, the
// request is retried with a back-off. The statuses of other pods are delayed only if no request
// succeeds.
package cluster
