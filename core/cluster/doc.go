// Package cluster makes the agent a node of a Kubernetes cluster: it registers the node, keeps its status and its lease
// new, and writes the statuses of pods to the API server.
//
// Comes in: the node object of the agent, which says what the node is; statuses of pods, whose changes arrive by UID
// (Member.Changed); what workers know of pods that end. Goes out: requests to the API server; labels, taints and
// annotations that others write there, into the node object.
// Events, which are a part of their own, write what happens to pods and to the node.
// Member.Run owns four goroutines and waits for them: one follows the node's object and registers it, one writes its
// status, one renews its lease, one writes the statuses of pods.
//
// # What is owed
//
// Pods whose status the server does not have yet are a set of UIDs. The status itself is read when it is sent, so that
// the newest is sent, and a change costs the same however many pods there are. A restart owes all pods of the node: of
// each the status is compared with the one that came with the pod, and sent only where they differ.
//
// A status is sent with the pod's UID as precondition. A pod that is gone there, or is another one by now, is an
// answer: nothing is owed of it any more. What the server does not take, or cannot be asked, is tried again with a
// back-off; statuses of other pods are not sent meanwhile only if no request succeeds.
package cluster
