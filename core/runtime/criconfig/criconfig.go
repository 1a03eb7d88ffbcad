package criconfig

import (
	"context"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Config is the configuration that the sandboxes and containers of all pods share.
type Config struct {
	// Installation is the installation ID, the mark on all objects of this installation.
	Installation string
	// Layout returns the paths of pods' files and logs.
	Layout pod.Layout
	// ResolvConf is the path of the node's resolv.conf. If it is empty, pods get no DNS.
	ResolvConf string
	// ClusterDNS are the name servers of the cluster, and ClusterDomain is its domain; both are
	// empty if there is no cluster DNS.
	ClusterDNS    []string
	ClusterDomain string
	// Node returns the current node, for variables with its addresses and resources. It is nil for
	// a node that has neither.
	Node func() *v1.Node
	// Objects returns the API objects for variables; nil without an API server.
	Objects Objects
	// ReadFile reads files for variables; nil if variables from files are not supported.
	ReadFile ReadFile
	// SeccompDefault makes the runtime's seccomp profile the default of containers that specify
	// none.
	SeccompDefault bool
	// MemoryCapacity is the node's memory in bytes. The OOM scores of burstable pods depend on
	// their share of it.
	MemoryCapacity int64
	// PageSizes are the sizes of huge pages that the node has, in bytes.
	PageSizes []int64
	// CgroupV2 is true if the node has only cgroup v2: then all processes of a container that runs
	// out of memory are killed together, unless SingleProcessOOMKill is set.
	CgroupV2             bool
	SingleProcessOOMKill bool
	// Swap is the swap space that containers may use.
	Swap Swap
	// MemoryQoS is how cgroup v2 treats memory of containers below their limits.
	MemoryQoS MemoryQoS
}

// ImageUser returns the user as which an image runs: by name if the image specifies a name, else by
// number, which is 0 if the image specifies no user.
type ImageUser func(ctx context.Context, ref string) (uid int64, user string, err error)

// Builder makes the configurations of sandboxes (Sandbox) and containers (Container). It is
// stateless.
type Builder struct {
	config    Config
	imageUser ImageUser
}

// New makes a Builder. imageUser is called for containers that must not run as root, or that
// specify a group and no user.
func New(config Config, imageUser ImageUser) *Builder {
	return &Builder{config: config, imageUser: imageUser}
}

// Notice is information for the pod's owner. It is emitted as an event.
type Notice struct {
	Reason  string
	Message string
}
