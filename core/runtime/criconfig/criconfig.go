package criconfig

import (
	"context"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// Config is what the sandboxes and containers of all pods have in common.
type Config struct {
	// Installation is the installation ID: the mark on all that is ours.
	Installation string
	// Layout says where pods' files and logs lie.
	Layout pod.Layout
	// ResolvConf is the node's resolv.conf. Empty: pods get no DNS.
	ResolvConf string
	// ClusterDNS are the name servers of the cluster, ClusterDomain its domain; both empty for none.
	ClusterDNS    []string
	ClusterDomain string
	// Node returns the node as it is now, for variables that take its addresses and resources; nil for a node that
	// has neither.
	Node func() *v1.Node
	// Objects are what variables take from an API server; nil where there is none.
	Objects Objects
	// ReadFile reads files that variables are taken from; nil where none are.
	ReadFile ReadFile
	// SeccompDefault means the runtime's seccomp profile for containers that say nothing.
	SeccompDefault bool
	// MemoryCapacity is the node's memory in bytes; burstable pods' OOM
	// scores are shares of it.
	MemoryCapacity int64
	// CgroupV2 is true where the node has cgroup v2 only: a container that
	// runs out of memory is then killed as a whole.
	CgroupV2 bool
}

// ImageUser returns as which user an image runs: by name where it says one, else by number, which is 0 where it says
// nothing.
type ImageUser func(ctx context.Context, ref string) (uid int64, user string, err error)

// Builder makes the configurations of sandboxes (Sandbox) and containers (Container). It holds no state.
type Builder struct {
	config    Config
	imageUser ImageUser
}

// New makes a Builder. imageUser is called for containers that must not run as root, or that say a group and no user.
func New(config Config, imageUser ImageUser) *Builder {
	return &Builder{config: config, imageUser: imageUser}
}

// Notice is something a pod's owner should know, and becomes an event.
type Notice struct {
	Reason  string
	Message string
}
