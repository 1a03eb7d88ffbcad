package config

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wardlet/wardlet/core/eviction/threshold"
)

// DefaultPath is the default path of the agent's configuration.
const DefaultPath = "/etc/wardlet/agent.toml"

// Config is the agent's whole configuration.
type Config struct {
	// NodeName is the node's name; if it is empty, the host name at the first start is used.
	NodeName string `toml:"node_name"`
	// LogLevel is debug, info, warn or error.
	LogLevel string `toml:"log_level"`
	// LogFormat is LogText or LogJSON.
	LogFormat string   `toml:"log_format"`
	Paths     Paths    `toml:"paths"`
	Runtime   Runtime  `toml:"runtime"`
	Node      Node     `toml:"node"`
	Cluster   Cluster  `toml:"cluster"`
	NodeAPI   NodeAPI  `toml:"node_api"`
	Objects   Objects  `toml:"objects"`
	Eviction  Eviction `toml:"eviction"`
	Sync      Sync     `toml:"sync"`
	Policy    Policy   `toml:"policy"`
	// Sources are the sources of all kinds in the order of the file. The API server of Cluster is
	// last.
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

// Paths are the agent's own paths, all absolute.
type Paths struct {
	// StateRoot is the directory of state that survives a restart.
	StateRoot string `toml:"state_root"`
	// PodRoot is the directory of "pods/<uid>" and "identity".
	PodRoot string `toml:"pod_root"`
	// LogRoot is the directory of "pods" and "containers".
	LogRoot string `toml:"log_root"`
	// CertDir is the directory of the certificates that the agent renews, with their keys.
	CertDir string `toml:"cert_dir"`
	// Socket is the Unix socket of the local API.
	Socket string `toml:"socket"`
	// CgroupRoot is the cgroup of all pods, as a path below the root of each hierarchy.
	CgroupRoot string `toml:"cgroup_root"`
}

// Runtime configures the access to the container runtime.
type Runtime struct {
	// Endpoint is "unix://" and an absolute path.
	Endpoint string `toml:"endpoint"`
	// RequestTimeout limits each call except pulls and streams; positive.
	RequestTimeout time.Duration `toml:"request_timeout"`
	// CgroupDriver is CgroupAuto, CgroupFS or CgroupSystemd.
	CgroupDriver string `toml:"cgroup_driver"`
	// CgroupDriverFallback is CgroupFS or CgroupSystemd: the driver with CgroupAuto for a runtime that
	// does not tell its own.
	CgroupDriverFallback string `toml:"cgroup_driver_fallback"`
	// ResolvConf is the resolver configuration that pods inherit, absolute; empty for none.
	ResolvConf string `toml:"resolv_conf"`
	// ParallelPulls is the number of parallel image pulls for each tenant, and for the pods without a
	// tenant; 1 to 64.
	ParallelPulls int `toml:"parallel_pulls"`
	// PullProgressTimeout limits the time of a pull without progress; at least 10 s.
	PullProgressTimeout time.Duration `toml:"pull_progress_timeout"`
	// OfflinePull is OfflineFallback or OfflineNever.
	OfflinePull string `toml:"offline_pull"`
	// Prepull are images that are pulled before a pod needs them.
	Prepull []string `toml:"prepull"`
	// RegistryConfig is a file of credentials for registries in the format of "docker login",
	// absolute; empty for none.
	RegistryConfig string `toml:"registry_config"`
	// CredentialProviderConfig is a kubelet's CredentialProviderConfig, absolute.
	// CredentialProviderBinDir is the directory of the programs that it names. Both are empty for
	// none.
	CredentialProviderConfig string `toml:"credential_provider_config"`
	CredentialProviderBinDir string `toml:"credential_provider_bin_dir"`
	// AllowedUnsafeSysctls are sysctls that pods may set beside the safe ones: names, or prefixes of
	// names with a * at the end.
	AllowedUnsafeSysctls []string `toml:"allowed_unsafe_sysctls"`
	// SeccompDefault applies the runtime's seccomp profile to containers that name none.
	SeccompDefault bool `toml:"seccomp_default"`
	// AdoptForeign takes over the pods that a kubelet made.
	AdoptForeign bool `toml:"adopt_foreign"`
	// ContainerLogMaxSize is the size at which a container's log is rotated, as a quantity of bytes;
	// less than 0 for never. See MaxLogSize.
	ContainerLogMaxSize string `toml:"container_log_max_size"`
	// ContainerLogMaxFiles is the maximum number of files for a container's log; at least 2.
	ContainerLogMaxFiles int `toml:"container_log_max_files"`
	// When ImageGCHighThresholdPercent of the file system of images is in use, unused images are
	// removed until ImageGCLowThresholdPercent is in use. 0 to 100, Low below High; High = 100 for
	// never.
	ImageGCHighThresholdPercent int64 `toml:"image_gc_high_threshold_percent"`
	ImageGCLowThresholdPercent  int64 `toml:"image_gc_low_threshold_percent"`
	// ImageMinimumGCAge is for how long an image stays after it was first seen; 0 or more.
	ImageMinimumGCAge time.Duration `toml:"image_minimum_gc_age"`
	// ImageMaximumGCAge is for how long an image may be unused, 0 for ever; longer than
	// ImageMinimumGCAge.
	ImageMaximumGCAge time.Duration `toml:"image_maximum_gc_age"`
	// Handlers are the runtime classes that pods of the node's own sources may name.
	Handlers []RuntimeHandler `toml:"handler"`
}

// What happens to a pod with imagePullPolicy Always if the registry is unreachable.
const (
	// OfflineFallback uses the image that the pod ran last.
	OfflineFallback = "fallback"
	// OfflineNever waits for the registry, as a kubelet does.
	OfflineNever = "never"
)

// RuntimeHandler is a runtime class that this node defines.
type RuntimeHandler struct {
	// Class is the name that pods use, a DNS subdomain, unique among the handlers.
	Class string `toml:"class"`
	// Handler is the runtime's name for the class, a DNS label. If it is empty, Load sets it to Class.
	Handler string `toml:"handler"`
}

// HandlerOf returns the runtime's name for a runtime class. ok is false if the node defines no such
// class.
func (r *Runtime) HandlerOf(class string) (handler string, ok bool) {
	i := slices.IndexFunc(r.Handlers, func(h RuntimeHandler) bool { return h.Class == class })
	if i < 0 {
		return "", false
	}
	return r.Handlers[i].Handler, true
}

// MaxLogSize returns the size, in bytes, at which a container's log is rotated, less than 0 for
// never. It is never 0 in a checked configuration.
func (r *Runtime) MaxLogSize() int64 {
	size, err := resource.ParseQuantity(r.ContainerLogMaxSize)
	if err != nil {
		return 0
	}
	return size.Value()
}

// The cgroup drivers.
const (
	// CgroupAuto is the driver that the runtime has, or CgroupDriverFallback.
	CgroupAuto = "auto"
	// CgroupFS creates cgroups as directories.
	CgroupFS = "cgroupfs"
	// CgroupSystemd creates cgroups as slices of systemd.
	CgroupSystemd = "systemd"
)

// Sync configures the sync loop.
type Sync struct {
	// Frequency is the interval at which each pod is synced without a change; positive.
	Frequency time.Duration `toml:"frequency"`
	// OnDeniedReplacement is DeniedKeep or DeniedStop.
	OnDeniedReplacement string `toml:"on_denied_replacement"`
}

// Policy configures the policies that judge the pods of this node.
type Policy struct {
	// Dir is the directory of policy documents, absolute; empty for none. Without policies, every pod
	// is admitted.
	Dir string `toml:"dir"`
	// ClusterSet is the ConfigMap of the operator's policies if Dir is empty, as NAMESPACE/NAME; empty for
	// none.
	ClusterSet string `toml:"cluster_set"`
	// AllowUnpinned lets documents leave out the digest of their module.
	AllowUnpinned bool `toml:"allow_unpinned"`
	// DefaultVerdict is the verdict if no policy has an opinion: VerdictAllow, VerdictHold or
	// VerdictDeny.
	DefaultVerdict string `toml:"default_verdict"`
	// DenyPacing slows down controllers that create a new pod as soon as one is denied.
	DenyPacing bool `toml:"deny_pacing"`
	// MutateAPI lets policies also change pods of an API server, as far as possible.
	MutateAPI bool `toml:"mutate_api"`
	// Exempt are pods of file sources, as NAMESPACE/NAME, that must be able to start. Policies judge
	// them, but if a plugin fails or no set is ready, they are admitted.
	Exempt []string `toml:"exempt"`
	// TrustedKeys are public keys of minisign that verify the signature of the policies.
	// RequireSignature refuses unsigned policies. No file in the directory can change either.
	TrustedKeys      []string `toml:"trusted_keys"`
	RequireSignature bool     `toml:"require_signature"`
	// MaxSuppress limits the time for which the operator's policies may hold an update back; positive.
	MaxSuppress time.Duration `toml:"max_suppress"`
	// RecordBytes limits the disk space for records of decisions about pods without a tenant,
	// including the data needed to repeat the operator's policies.
	RecordBytes int64 `toml:"record_bytes"`
	// ModuleBytes is the maximum length of a plugin's module. CodeBytes is the maximum length of its
	// code section, at most ModuleBytes. Both are 64 KiB to 6 MiB.
	ModuleBytes int `toml:"module_bytes"`
	CodeBytes   int `toml:"code_bytes"`
}

// The verdicts if no policy has an opinion.
const (
	VerdictAllow = "allow"
	VerdictHold  = "hold"
	VerdictDeny  = "deny"
)

// What happens to a running pod whose replacement is denied or held.
const (
	// DeniedKeep lets it continue to run.
	DeniedKeep = "keep"
	// DeniedStop terminates it, as a kubelet does.
	DeniedStop = "stop"
)

// Default returns the configuration of an empty file, which lacks only a source.
func Default() *Config {
	return &Config{
		LogLevel:  "info",
		LogFormat: LogText,
		Paths: Paths{
			StateRoot:  "/var/lib/wardlet/state",
			PodRoot:    "/var/lib/wardlet",
			LogRoot:    "/var/log",
			CertDir:    "/var/lib/wardlet/pki",
			Socket:     "/run/wardlet/wardlet.sock",
			CgroupRoot: "/wardlet",
		},
		Runtime: Runtime{
			Endpoint:            "unix:///run/containerd/containerd.sock",
			RequestTimeout:      2 * time.Minute,
			CgroupDriver:        CgroupAuto,
			ResolvConf:          "/etc/resolv.conf",
			ContainerLogMaxSize: "10Mi", ContainerLogMaxFiles: 5,
			ImageGCHighThresholdPercent: 85, ImageGCLowThresholdPercent: 80, ImageMinimumGCAge: 2 * time.Minute,

			CgroupDriverFallback: CgroupFS,

			ParallelPulls: 3, PullProgressTimeout: 10 * time.Minute, OfflinePull: OfflineFallback,
		},
		Node:     Node{MaxPods: defaultMaxPods, PodPIDsLimit: -1, SwapBehavior: NoSwap, MemoryReservationPolicy: NoReservation},
		Cluster:  Cluster{Domain: DefaultDomain},
		NodeAPI:  NodeAPI{Listen: DefaultNodeAPI},
		Eviction: Eviction{Hard: threshold.DefaultHard(), PressureTransitionPeriod: 5 * time.Minute, TenantsPayFirst: true},
		Sync: Sync{
			Frequency:           time.Minute,
			OnDeniedReplacement: DeniedKeep,
		},
		Policy:    Policy{DefaultVerdict: VerdictAllow, DenyPacing: true, MaxSuppress: 24 * time.Hour, RecordBytes: 32 << 20, ModuleBytes: 4 << 20, CodeBytes: 3 << 20},
		Conflicts: Conflicts{Rule: ConflictsIsolate},
	}
}
