package runtime

import (
	"log/slog"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/status"
)

// Config is what a Runtime stands on.
type Config struct {
	Client *Client
	// Status answers NetworkReady.
	Status *Status
	// Installation is the installation ID: the mark on all that is ours.
	Installation string
	// AdoptForeign takes what a kubelet made, and bears no mark, for ours too.
	AdoptForeign bool
	// Layout says where pods' files and logs lie.
	Layout pod.Layout
	// ResolvConf is the node's resolv.conf. Empty: pods get no DNS.
	ResolvConf string
	// HostsFile is the node's /etc/hosts, for pods on the node's network.
	HostsFile string
	// MemoryCapacity is the node's memory in bytes; burstable pods' OOM
	// scores are shares of it.
	MemoryCapacity int64
	// CgroupV2 is true where the node has cgroup v2 only: a container that
	// runs out of memory is then killed as a whole.
	CgroupV2 bool
	// CgroupDriver is the agent's, "cgroupfs" or "systemd". Empty: a start that
	// fails is not explained by the runtime's driver.
	CgroupDriver string
	Events       status.Recorder
	Logger       *slog.Logger
	Now          func() time.Time
}

// Runtime makes, ends and observes pods.
type Runtime struct {
	config  Config
	cri     runtimeapi.RuntimeServiceClient
	images  runtimeapi.ImageServiceClient
	pulls   *pulls
	starts  *starts
	noticed noticed
}

// New makes a Runtime.
func New(config Config) *Runtime {
	return &Runtime{
		config: config,
		cri:    config.Client.runtime,
		images: config.Client.images,
		pulls:  newPulls(config.Now),
		starts: newStarts(),
	}
}

// NetworkReady says why pods cannot have a network of their own; nil if they
// can.
func (r *Runtime) NetworkReady() error { return r.config.Status.NetworkReady() }
