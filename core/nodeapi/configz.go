package nodeapi

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KubeletConfiguration has the fields of a kubelet's configuration, kubelet.config.k8s.io/v1beta1,
// that have a meaning for the agent. The type of k8s.io/kubelet is not used: most of its 120 fields
// would have false values here.
type KubeletConfiguration struct {
	metav1.TypeMeta `json:",inline"`

	StaticPodPath            string                `json:"staticPodPath,omitempty"`
	FileCheckFrequency       metav1.Duration       `json:"fileCheckFrequency"`
	StaticPodURL             string                `json:"staticPodURL,omitempty"`
	HTTPCheckFrequency       metav1.Duration       `json:"httpCheckFrequency"`
	SyncFrequency            metav1.Duration       `json:"syncFrequency"`
	Address                  string                `json:"address,omitempty"`
	Port                     int32                 `json:"port,omitempty"`
	ReadOnlyPort             int32                 `json:"readOnlyPort,omitempty"`
	TLSCertFile              string                `json:"tlsCertFile,omitempty"`
	TLSPrivateKeyFile        string                `json:"tlsPrivateKeyFile,omitempty"`
	RotateCertificates       bool                  `json:"rotateCertificates,omitempty"`
	ServerTLSBootstrap       bool                  `json:"serverTLSBootstrap,omitempty"`
	EnableSystemLogQuery     bool                  `json:"enableSystemLogQuery,omitempty"`
	Authentication           KubeletAuthentication `json:"authentication"`
	Authorization            KubeletAuthorization  `json:"authorization"`
	HealthzPort              *int32                `json:"healthzPort,omitempty"`
	HealthzBindAddress       string                `json:"healthzBindAddress,omitempty"`
	RegisterNode             *bool                 `json:"registerNode,omitempty"`
	RegisterWithTaints       []v1.Taint            `json:"registerWithTaints,omitempty"`
	SerializeImagePulls      *bool                 `json:"serializeImagePulls,omitempty"`
	MaxParallelImagePulls    *int32                `json:"maxParallelImagePulls,omitempty"`
	ClusterDNS               []string              `json:"clusterDNS,omitempty"`
	ClusterDomain            string                `json:"clusterDomain,omitempty"`
	ContainerRuntimeEndpoint string                `json:"containerRuntimeEndpoint"`
	RuntimeRequestTimeout    metav1.Duration       `json:"runtimeRequestTimeout"`
	CgroupDriver             string                `json:"cgroupDriver,omitempty"`
	CgroupRoot               string                `json:"cgroupRoot,omitempty"`
	MaxPods                  int32                 `json:"maxPods,omitempty"`
	ResolverConfig           *string               `json:"resolvConf,omitempty"`
	AllowedUnsafeSysctls     []string              `json:"allowedUnsafeSysctls,omitempty"`
	SeccompDefault           *bool                 `json:"seccompDefault,omitempty"`
	PodLogsDir               string                `json:"podLogsDir,omitempty"`
	SystemReserved           map[string]string     `json:"systemReserved,omitempty"`
	KubeReserved             map[string]string     `json:"kubeReserved,omitempty"`
	PodPidsLimit             *int64                `json:"podPidsLimit,omitempty"`
	MemorySwap               KubeletMemorySwap     `json:"memorySwap"`

	// The first two are 0 if the third is set.
	ShutdownGracePeriod              metav1.Duration         `json:"shutdownGracePeriod"`
	ShutdownGracePeriodCriticalPods  metav1.Duration         `json:"shutdownGracePeriodCriticalPods"`
	ShutdownGracePeriodByPodPriority []KubeletShutdownPeriod `json:"shutdownGracePeriodByPodPriority,omitempty"`
	SingleProcessOOMKill             *bool                   `json:"singleProcessOOMKill,omitempty"`

	// CgroupsPerQOS is true: the pods of each class of quality of service have a cgroup.
	CgroupsPerQOS               *bool           `json:"cgroupsPerQOS,omitempty"`
	MemoryThrottlingFactor      *float64        `json:"memoryThrottlingFactor,omitempty"`
	MemoryReservationPolicy     string          `json:"memoryReservationPolicy,omitempty"`
	ImageMinimumGCAge           metav1.Duration `json:"imageMinimumGCAge"`
	ImageMaximumGCAge           metav1.Duration `json:"imageMaximumGCAge"`
	ImageGCHighThresholdPercent *int32          `json:"imageGCHighThresholdPercent,omitempty"`
	ImageGCLowThresholdPercent  *int32          `json:"imageGCLowThresholdPercent,omitempty"`
	ContainerLogMaxSize         string          `json:"containerLogMaxSize,omitempty"`
	ContainerLogMaxFiles        *int32          `json:"containerLogMaxFiles,omitempty"`

	EvictionHard map[string]string `json:"evictionHard,omitempty"`
	EvictionSoft map[string]string `json:"evictionSoft,omitempty"`
	// EvictionSoftGracePeriod has durations such as "1m30s".
	EvictionSoftGracePeriod          map[string]string `json:"evictionSoftGracePeriod,omitempty"`
	EvictionMinimumReclaim           map[string]string `json:"evictionMinimumReclaim,omitempty"`
	EvictionPressureTransitionPeriod metav1.Duration   `json:"evictionPressureTransitionPeriod"`
	// EvictionMaxPodGracePeriod is in seconds.
	EvictionMaxPodGracePeriod int32 `json:"evictionMaxPodGracePeriod,omitempty"`
}

// KubeletMemorySwap says which swap space containers may use: NoSwap or LimitedSwap.
type KubeletMemorySwap struct {
	SwapBehavior string `json:"swapBehavior,omitempty"`
}

// KubeletShutdownPeriod is the time, in seconds, that a shutdown of the machine leaves to pods from
// a priority on.
type KubeletShutdownPeriod struct {
	Priority                   int32 `json:"priority"`
	ShutdownGracePeriodSeconds int64 `json:"shutdownGracePeriodSeconds"`
}

// KubeletAuthentication describes how clients of the API authenticate.
type KubeletAuthentication struct {
	X509      KubeletX509    `json:"x509"`
	Webhook   KubeletWebhook `json:"webhook"`
	Anonymous KubeletSwitch  `json:"anonymous"`
}

// KubeletX509 describes authentication with certificates.
type KubeletX509 struct {
	ClientCAFile string `json:"clientCAFile,omitempty"`
}

// KubeletWebhook describes authentication with tokens that an API server reviews.
type KubeletWebhook struct {
	Enabled  bool            `json:"enabled"`
	CacheTTL metav1.Duration `json:"cacheTTL"`
}

// KubeletSwitch is a setting that is on or off.
type KubeletSwitch struct {
	Enabled bool `json:"enabled"`
}

// KubeletAuthorization describes the authorization: Mode is Webhook or AlwaysAllow.
type KubeletAuthorization struct {
	Mode    string                      `json:"mode"`
	Webhook KubeletAuthorizationWebhook `json:"webhook"`
}

// KubeletAuthorizationWebhook has the cache times for answers of the API server.
type KubeletAuthorizationWebhook struct {
	CacheAuthorizedTTL   metav1.Duration `json:"cacheAuthorizedTTL"`
	CacheUnauthorizedTTL metav1.Duration `json:"cacheUnauthorizedTTL"`
}

// SetLogin sets authentication and authorization, for a node in a cluster or without one.
func (k *KubeletConfiguration) SetLogin(clientCAFile string, inCluster bool) {
	k.Authentication.X509.ClientCAFile = clientCAFile
	k.Authorization.Mode = "AlwaysAllow" // applies to clients with a certificate; there are no others
	if !inCluster {
		return
	}
	k.Authentication.Webhook = KubeletWebhook{Enabled: true, CacheTTL: metav1.Duration{Duration: knownUser}}
	k.Authorization = KubeletAuthorization{Mode: "Webhook", Webhook: KubeletAuthorizationWebhook{
		CacheAuthorizedTTL: metav1.Duration{Duration: knownAllowed}, CacheUnauthorizedTTL: metav1.Duration{Duration: knownDenied},
	}}
}
