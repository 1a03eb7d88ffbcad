package config

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// DefaultPath is where the agent looks for its configuration.
const DefaultPath = "/etc/wardlet/agent.toml"

// Config is the agent's whole configuration.
type Config struct {
	// NodeName is empty for the host name of the first start.
	NodeName string `toml:"node_name"`
	// LogLevel is debug, info, warn or error.
	LogLevel string `toml:"log_level"`
	// LogFormat is LogText or LogJSON.
	LogFormat string  `toml:"log_format"`
	Paths     Paths   `toml:"paths"`
	Runtime   Runtime `toml:"runtime"`
	Node      Node    `toml:"node"`
	Cluster   Cluster `toml:"cluster"`
	NodeAPI   NodeAPI `toml:"node_api"`
	Objects   Objects `toml:"objects"`
	Sync      Sync    `toml:"sync"`
	Policy    Policy  `toml:"policy"`
	// Sources are those of all kinds, in the order of the file, the API server of Cluster last.
	Sources   []Source  `toml:"source"`
	Tenants   []Tenant  `toml:"tenant"`
	Conflicts Conflicts `toml:"conflicts"`
	Metrics   Metrics   `toml:"metrics"`
}

// The log formats.
const (
	LogText = "text"
	LogJSON = "json"
)

// Paths are the places the agent owns, all absolute.
type Paths struct {
	// StateRoot holds what survives a restart.
	StateRoot string `toml:"state_root"`
	// PodRoot holds "pods/<uid>", and "identity".
	PodRoot string `toml:"pod_root"`
	// LogRoot holds "pods" and "containers".
	LogRoot string `toml:"log_root"`
	// Socket is the Unix socket of the local API.
	Socket string `toml:"socket"`
	// CgroupRoot is the cgroup all pods lie in, as a path below the root of
	// each hierarchy.
	CgroupRoot string `toml:"cgroup_root"`
}

// Runtime says how to reach and use the container runtime.
type Runtime struct {
	// Endpoint is "unix://" and an absolute path.
	Endpoint string `toml:"endpoint"`
	// RequestTimeout bounds each call but pulls and streams; positive.
	RequestTimeout time.Duration `toml:"request_timeout"`
	// CgroupDriver is CgroupFS.
	CgroupDriver string `toml:"cgroup_driver"`
	// ResolvConf is the resolver configuration pods inherit, absolute; empty
	// for none.
	ResolvConf string `toml:"resolv_conf"`
	// ParallelPulls is how many images are pulled at a time for each tenant, and for the pods of none; 1 to 64.
	ParallelPulls int `toml:"parallel_pulls"`
	// PullProgressTimeout is how long a pull may go on without progress; at least 10 s.
	PullProgressTimeout time.Duration `toml:"pull_progress_timeout"`
	// OfflinePull is OfflineFallback or OfflineNever.
	OfflinePull string `toml:"offline_pull"`
	// Prepull are images that are pulled before a pod needs them.
	Prepull []string `toml:"prepull"`
	// RegistryConfig is a file of credentials for registries, as "docker login" writes it, absolute; empty for none.
	RegistryConfig string `toml:"registry_config"`
	// CredentialProviderConfig is a CredentialProviderConfig of a kubelet, absolute, and CredentialProviderBinDir where
	// the programs lie that it names; both are empty for none.
	CredentialProviderConfig string `toml:"credential_provider_config"`
	CredentialProviderBinDir string `toml:"credential_provider_bin_dir"`
	// AllowedUnsafeSysctls are sysctls that pods may set beside those that change
	// nothing of other pods: names, or with a * at the end their beginnings.
	AllowedUnsafeSysctls []string `toml:"allowed_unsafe_sysctls"`
	// SeccompDefault applies the runtime's seccomp profile to containers that name none.
	SeccompDefault bool `toml:"seccomp_default"`
	// AdoptForeign takes over the pods that a kubelet made.
	AdoptForeign bool `toml:"adopt_foreign"`
	// ContainerLogMaxSize is the size at which a container's log is rotated, as a quantity of bytes; less than 0 for
	// never. See MaxLogSize.
	ContainerLogMaxSize string `toml:"container_log_max_size"`
	// ContainerLogMaxFiles is how many files a container's log may have; at least 2.
	ContainerLogMaxFiles int `toml:"container_log_max_files"`
	// Handlers are the runtime classes that pods of the node's own sources may name.
	Handlers []RuntimeHandler `toml:"handler"`
}

// What a pod of imagePullPolicy Always does when the registry cannot be reached.
const (
	// OfflineFallback runs the image that it ran last.
	OfflineFallback = "fallback"
	// OfflineNever waits for the registry, as a kubelet does.
	OfflineNever = "never"
)

// RuntimeHandler is a runtime class of the node's own.
type RuntimeHandler struct {
	// Class is what pods name, a DNS subdomain, unique among the handlers.
	Class string `toml:"class"`
	// Handler is the runtime's name for it, a DNS label; Load sets it to Class where it is empty.
	Handler string `toml:"handler"`
}

// HandlerOf returns the runtime's name for a runtime class, and ok as false where the node has no such class.
func (r *Runtime) HandlerOf(class string) (handler string, ok bool) {
	i := slices.IndexFunc(r.Handlers, func(h RuntimeHandler) bool { return h.Class == class })
	if i < 0 {
		return "", false
	}
	return r.Handlers[i].Handler, true
}

// MaxLogSize returns the size, in bytes, at which a container's log is rotated, less than 0 for never. It is never 0
// where the configuration was checked.
func (r *Runtime) MaxLogSize() int64 {
	size, err := resource.ParseQuantity(r.ContainerLogMaxSize)
	if err != nil {
		return 0
	}
	return size.Value()
}

// CgroupFS is the cgroup driver that makes cgroups as directories.
const CgroupFS = "cgroupfs"

// Sync says how the sync loop works.
type Sync struct {
	// Frequency is how often each pod is looked at without a reason; positive.
	Frequency time.Duration `toml:"frequency"`
	// OnDeniedReplacement is DeniedKeep or DeniedStop.
	OnDeniedReplacement string `toml:"on_denied_replacement"`
}

// Policy says which policies judge the pods of this node.
type Policy struct {
	// Dir is the directory of policy documents, absolute; empty for none:
	// every pod is admitted.
	Dir string `toml:"dir"`
	// AllowUnpinned lets documents leave out the digest of their module.
	AllowUnpinned bool `toml:"allow_unpinned"`
	// DefaultVerdict is VerdictAllow, VerdictHold or VerdictDeny: what counts
	// where no policy has an opinion.
	DefaultVerdict string `toml:"default_verdict"`
	// DenyPacing slows down controllers that make a new pod as soon as one is
	// denied.
	DenyPacing bool `toml:"deny_pacing"`
	// MutateAPI lets policies change pods of an API server, too, as far as that
	// can be.
	MutateAPI bool `toml:"mutate_api"`
	// Exempt are pods of file sources, as NAMESPACE/NAME, that must be able to
	// start: policies judge them, but where a plugin fails, or no set is ready,
	// they pass.
	Exempt []string `toml:"exempt"`
	// TrustedKeys are public keys of minisign: with them a signature of the policies
	// is verified. RequireSignature refuses policies without one. Nothing in the
	// directory can change either.
	TrustedKeys      []string `toml:"trusted_keys"`
	RequireSignature bool     `toml:"require_signature"`
	// MaxSuppress is how long the operator's policies may hold an update back;
	// positive.
	MaxSuppress time.Duration `toml:"max_suppress"`
	// RecordBytes is how much of the disk the records of decisions about pods that
	// are no tenant's may take, with what keeps the operator's policies repeatable.
	RecordBytes int64 `toml:"record_bytes"`
	// ModuleBytes is the length of the longest module that is taken for a
	// plugin, CodeBytes that of the code section in it, at most ModuleBytes.
	// Both are 64 KiB to 6 MiB.
	ModuleBytes int `toml:"module_bytes"`
	CodeBytes   int `toml:"code_bytes"`
}

// What counts where no policy has an opinion.
const (
	VerdictAllow = "allow"
	VerdictHold  = "hold"
	VerdictDeny  = "deny"
)

// What happens to a pod that runs when its replacement is denied or held.
const (
	// DeniedKeep lets it run on.
	DeniedKeep = "keep"
	// DeniedStop ends it, as a kubelet does.
	DeniedStop = "stop"
)

// Default is the configuration of an empty file, which lacks only a source.
func Default() *Config {
	return &Config{
		LogLevel:  "info",
		LogFormat: LogText,
		Paths: Paths{
			StateRoot:  "/var/lib/wardlet/state",
			PodRoot:    "/var/lib/wardlet",
			LogRoot:    "/var/log",
			Socket:     "/run/wardlet/wardlet.sock",
			CgroupRoot: "/wardlet",
		},
		Runtime: Runtime{
			Endpoint:            "unix:///run/containerd/containerd.sock",
			RequestTimeout:      2 * time.Minute,
			CgroupDriver:        CgroupFS,
			ResolvConf:          "/etc/resolv.conf",
			ContainerLogMaxSize: "10Mi", ContainerLogMaxFiles: 5,

			ParallelPulls: 3, PullProgressTimeout: 10 * time.Minute, OfflinePull: OfflineFallback,
		},
		Node:    Node{MaxPods: defaultMaxPods},
		Cluster: Cluster{Domain: DefaultDomain},
		NodeAPI: NodeAPI{Listen: DefaultNodeAPI},
		Sync: Sync{
			Frequency:           time.Minute,
			OnDeniedReplacement: DeniedKeep,
		},
		Policy:    Policy{DefaultVerdict: VerdictAllow, DenyPacing: true, MaxSuppress: 24 * time.Hour, RecordBytes: 32 << 20, ModuleBytes: 4 << 20, CodeBytes: 3 << 20},
		Conflicts: Conflicts{Rule: ConflictsIsolate},
	}
}
