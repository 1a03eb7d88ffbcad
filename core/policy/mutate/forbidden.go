package mutate

import (
	"strings"

	"github.com/wardlet/wardlet/core/pod"
)

const (
	ownPrefix    = "wardlet.dev/"
	configPrefix = "kubernetes.io/config."
)

// forbidden returns why no policy may change the value at a place, empty if
// policies may change it. It is called for every value that differs, including all
// values within an object that was added or removed.
func forbidden(at pointer) (why string) {
	if len(at) == 0 {
		return ""
	}
	switch at[0] {
	case "metadata":
		if len(at) == 1 {
			return ""
		}
		return forbiddenMetadata(at[1], at[2:])
	case "spec":
		if len(at) > 1 && at[1] == "nodeName" {
			return "the pod is this node's"
		}
		return ""
	case "status":
		return "the agent alone reports the status"
	default:
		return "of a pod only labels, annotations and spec can change"
	}
}

func forbiddenMetadata(name string, below pointer) string {
	switch name {
	case "labels", "annotations":
		if len(below) == 0 {
			return ""
		}
		key := below[0]
		switch {
		case key == pod.AnnotationIdentity && name == "annotations":
			return "it is the pod's identity"
		case strings.HasPrefix(key, ownPrefix):
			return "what begins with " + ownPrefix + " is the agent's own"
		case strings.HasPrefix(key, configPrefix) && name == "annotations":
			return "only a node agent writes annotations that begin with " + configPrefix
		}
		return ""
	case "name", "generateName", "namespace", "uid":
		return "it is the pod's identity"
	default:
		return "of the metadata only labels and annotations can change"
	}
}

// forbiddenOfAPI returns why no policy may change the value at a place of a pod
// from an API server. It has rules in addition to those of forbidden.
func forbiddenOfAPI(at pointer) (why string) {
	if len(at) < 2 || at[0] != "spec" {
		return ""
	}
	const requests = "the scheduler chose the node by the requests"
	switch at[1] {
	case "serviceAccountName", "serviceAccount", "automountServiceAccountToken":
		return "the service account is the API server's to give"
	case "runtimeClassName", "overhead":
		return "the scheduler chose the node by the runtime class and its overhead"
	case "resources":
		if len(at) > 2 && at[2] == "requests" {
			return requests
		}
	case "containers", "initContainers", "ephemeralContainers", "volumes":
		switch {
		case len(at) <= 3:
			return "the pod of the API server has its own containers and volumes, none can be added or removed"
		case at[3] == "name":
			return "containers and volumes keep the names that the API server knows"
		case at[1] == "volumes":
		case at[3] == "ports":
			return "the ports are known to the API server"
		case at[3] == "resources" && len(at) > 4 && at[4] == "requests":
			return requests
		}
	}
	return ""
}
