package kubeletconfig

import (
	"fmt"
	"slices"
	"strings"
)

// rule converts a field.
type rule func(c *conversion, f *field)

// tables are the fields whose values are fields in their turn, or maps whose entries are converted
// one by one.
var tables = set("authentication", "authentication.x509", "authentication.webhook", "authentication.anonymous", "authorization", "authorization.webhook",
	"memorySwap", "crashLoopBackOff", "evictionHard", "evictionSoft", "evictionSoftGracePeriod", "evictionMinimumReclaim", "systemReserved", "kubeReserved",
	"featureGates", "logging", "userNamespaces")

// rules are the fields of KubeletConfiguration v1beta1; "NAME.*" stands for the entries of a map.
var rules = map[string]rule{
	"staticPodPath":      source("kubelet-static", "file", "path"),
	"fileCheckFrequency": keepFor("file"),
	"staticPodURL":       source("kubelet-http", "http", "url"),
	"httpCheckFrequency": keepFor("http"),
	"staticPodURLHeader": refused("is not read: write the headers into a file of lines \"Name: value\", name it as header_file of the [[source]], and leave out this field"),
	"podLogsDir":         podLogs,
	"syncFrequency":      duration("sync.frequency"),

	"containerRuntimeEndpoint": text("runtime.endpoint"),
	"imageServiceEndpoint":     imageService,
	"runtimeRequestTimeout":    duration("runtime.request_timeout"),
	"cgroupDriver":             text("runtime.cgroup_driver_fallback"),
	"cgroupRoot":               keep,
	"resolvConf":               textOrNone("runtime.resolv_conf"),
	"seccompDefault":           boolean("runtime.seccomp_default"),
	"allowedUnsafeSysctls":     list("runtime.allowed_unsafe_sysctls"),
	"serializeImagePulls":      flagged,
	"maxParallelImagePulls":    keep,
	"containerLogMaxSize":      text("runtime.container_log_max_size"),
	"containerLogMaxFiles":     number("runtime.container_log_max_files"),

	"imageMinimumGCAge":           duration("runtime.image_minimum_gc_age"),
	"imageMaximumGCAge":           duration("runtime.image_maximum_gc_age"),
	"imageGCHighThresholdPercent": number("runtime.image_gc_high_threshold_percent"),
	"imageGCLowThresholdPercent":  number("runtime.image_gc_low_threshold_percent"),

	"maxPods":                          maxPods,
	"podPidsLimit":                     number("node.pod_pids_limit"),
	"systemReserved.*":                 reservation("node.system_reserved"),
	"kubeReserved.*":                   reservation("node.kube_reserved"),
	"memorySwap.swapBehavior":          text("node.swap_behavior"),
	"memoryThrottlingFactor":           throttling,
	"memoryReservationPolicy":          text("node.memory_reservation_policy"),
	"singleProcessOOMKill":             boolean("node.single_process_oom_kill"),
	"registerWithTaints":               taints,
	"shutdownGracePeriod":              duration("node.shutdown_grace_period"),
	"shutdownGracePeriodCriticalPods":  duration("node.shutdown_grace_period_critical_pods"),
	"shutdownGracePeriodByPodPriority": shutdownPeriods,

	"evictionHard.*":                   signal("eviction.hard"),
	"evictionSoft.*":                   signal("eviction.soft"),
	"evictionSoftGracePeriod.*":        signal("eviction.soft_grace_period"),
	"evictionMinimumReclaim.*":         signal("eviction.minimum_reclaim"),
	"evictionPressureTransitionPeriod": duration("eviction.pressure_transition_period"),
	"evictionMaxPodGracePeriod":        seconds("eviction.max_pod_grace_period"),
	"mergeDefaultEvictionSettings":     flagged,

	"clusterDNS":    list("cluster.dns"),
	"clusterDomain": text("cluster.domain"),

	"enableServer":                               flagged,
	"address":                                    keep,
	"port":                                       keep,
	"readOnlyPort":                               keep,
	"healthzPort":                                keep,
	"healthzBindAddress":                         keep,
	"tlsCertFile":                                text("node_api.cert_file"),
	"tlsPrivateKeyFile":                          text("node_api.key_file"),
	"authentication.x509.clientCAFile":           text("node_api.client_ca_file"),
	"authentication.anonymous.enabled":           alwaysIs(false, warns, "anonymous requests are never answered, except on the read-only address and for health"),
	"authentication.webhook.enabled":             alwaysIs(true, warns, "in a cluster, the API server is always asked about tokens"),
	"authentication.webhook.cacheTTL":            always("2m", warns, "who sent a token is asked again after 2 minutes"),
	"authorization.mode":                         always("Webhook", warns, "in a cluster, the API server is always asked what a client may do"),
	"authorization.webhook.cacheAuthorizedTTL":   always("5m", warns, "what a client may do is asked again after 5 minutes"),
	"authorization.webhook.cacheUnauthorizedTTL": always("30s", warns, "what a client may not do is asked again after 30 s"),
	"enableDebuggingHandlers":                    alwaysIs(true, refuses, "logs, exec, attach and port-forward are always served to clients that may use them"),
	"tlsMinVersion":                              tlsVersion,
	"tlsCipherSuites":                            refused("cannot be chosen: the suites are those that Go's TLS considers secure. Leave out this field"),
	"tlsCurvePreferences":                        refused("cannot be chosen: the curves are those that Go's TLS considers secure. Leave out this field"),
	"rotateCertificates":                         boolean("cluster.rotate_certificates"),
	"serverTLSBootstrap":                         boolean("node_api.server_tls_bootstrap"),
	"nodeStatusUpdateFrequency":                  always("10s", warns, "the node's state is read every 10 s"),
	"nodeStatusReportFrequency":                  always("5m", warns, "a state of the node that did not change is sent every 5 minutes"),
	"nodeLeaseDurationSeconds":                   always("40", warns, "the lease of the node is valid for 40 s"),
	"nodeStatusMaxImages":                        always("50", warns, "the node object lists at most 50 images"),
	"registerNode":                               alwaysIs(true, warns, "a node with a kubeconfig is always registered"),
	"providerID":                                 refused("is not set by the agent: set spec.providerID of the node object, and leave out this field"),
	"enableControllerAttachDetach":               alwaysIs(true, refuses, "volumes are attached by the cluster's controller only"),
	"cgroupsPerQOS":                              alwaysIs(true, refuses, "pods always have cgroups"),
	"cpuCFSQuota":                                alwaysIs(true, refuses, "CPU limits of containers are always enforced"),
	"cpuCFSQuotaPeriod":                          always("100ms", warns, "the period of CPU limits is 100 ms"),
	"cpuManagerPolicy":                           always("none", refuses, "containers cannot have CPUs of their own"),
	"memoryManagerPolicy":                        always("None", refuses, "containers cannot have memory of a NUMA node of their own"),
	"topologyManagerPolicy":                      always("none", refuses, "resources are not aligned by NUMA node"),
	"reservedMemory":                             warning("has no effect without a memory manager"),
	"reservedSystemCPUs":                         refused("cannot be reserved by number: reserve an amount with systemReserved (cpu)"),
	"qosReserved":                                warning("memory requests of guaranteed pods are not reserved from other classes"),
	"systemReservedCgroup":                       warning("what is reserved is kept from pods, but the cgroup of the system is not limited"),
	"kubeReservedCgroup":                         warning("what is reserved is kept from pods, but the cgroup of the runtime is not limited"),
	"enforceNodeAllocatable":                     allocatable,
	"kubeletCgroups":                             always("", warns, "the agent stays in the cgroup in which it is started"),
	"systemCgroups":                              always("", warns, "processes of the system are not moved"),
	"podsPerCore":                                always("0", refuses, "the limit is maxPods"),
	"protectKernelDefaults":                      alwaysIs(false, warns, "the agent sets the kernel's settings that it needs"),
	"localStorageCapacityIsolation":              alwaysIs(true, warns, "ephemeral storage is always counted and limited"),
	"crashLoopBackOff.maxContainerRestartPeriod": always("5m", warns, "the longest back-off of a container is 5 minutes"),
	"configMapAndSecretChangeDetectionStrategy":  always("Watch", warns, "ConfigMaps and Secrets are watched"),
	"imagePullCredentialsVerificationPolicy":     warning("a pod without credentials may use an image that is on the node"),
	"preloadedImagesVerificationAllowlist":       ignored,
	"runOnce":                                    alwaysIs(false, refuses, "the agent always keeps running"),
	"enableSystemLogQuery":                       boolean("node_api.system_logs"),
	"oomScoreAdj":                                oomScore,
	"logging.format":                             logFormat,
	"userNamespaces.idsPerPod":                   always("65536", warns, "every user namespace has 65536 IDs"),
	"podCIDR":                                    warning("the runtime is told the pod CIDR of the node object only: write this one into the runtime's CNI configuration"),
	"tracing":                                    warning("the agent sends no traces"),
	"featureGates.MemoryQoS":                     flagged,
	"featureGates.*":                             warning("the agent has no feature gates; docs/supported-fields.md lists what pods may use"),

	// These have no effect on pods, or on anything that the agent does.
	"registryPullQPS": ignored, "registryBurst": ignored, "eventRecordQPS": ignored, "eventBurst": ignored, "kubeAPIQPS": ignored, "kubeAPIBurst": ignored,
	"contentType": ignored, "maxOpenFiles": ignored, "hairpinMode": ignored, "volumeStatsAggPeriod": ignored, "volumePluginDir": ignored,
	"cpuManagerPolicyOptions": ignored, "cpuManagerReconcilePeriod": ignored, "topologyManagerScope": ignored, "topologyManagerPolicyOptions": ignored,
	"makeIPTablesUtilChains": ignored, "iptablesMasqueradeBit": ignored, "iptablesDropBit": ignored, "failSwapOn": ignored, "failCgroupV1": ignored,
	"containerLogMaxWorkers": ignored, "containerLogMonitorInterval": ignored, "showHiddenMetricsForVersion": ignored, "kernelMemcgNotification": ignored,
	"logging.flushFrequency": ignored, "logging.verbosity": ignored, "logging.vmodule": ignored, "logging.options": ignored, "enableSystemLogHandler": ignored, "enableContentionProfiling": ignored, "enableProfilingHandler": ignored, "enableDebugFlagsHandler": ignored,
	"streamingConnectionIdleTimeout": ignored,
}

func set(names ...string) map[string]bool {
	is := map[string]bool{}
	for _, name := range names {
		is[name] = true
	}
	return is
}

// ignored accepts any value: the field has no effect.
func ignored(*conversion, *field) {}

// keep leaves a field for complete, which needs several together.
func keep(*conversion, *field) {}

// keepFor is keep for the period of a source, which there may be none of.
func keepFor(kind string) rule {
	return func(c *conversion, f *field) {
		if value, ok := c.duration(f); ok {
			c.period[kind] = value
		}
	}
}

// flagged is keep for a field that is true or false.
func flagged(c *conversion, f *field) { c.truth(f) }

// warning accepts any value, one that is not empty with a warning.
func warning(why string) rule { return func(c *conversion, f *field) { unlessEmpty(c, f, warns, why) } }

// refused accepts only an empty value.
func refused(why string) rule {
	return func(c *conversion, f *field) { unlessEmpty(c, f, refuses, why) }
}

func unlessEmpty(c *conversion, f *field, weight func(c *conversion, f *field, why string), why string) {
	if !f.empty() {
		weight(c, f, why)
	}
}

// The weights of a field that has another value than the agent's.
func warns(c *conversion, f *field, why string)   { c.warn(f, why) }
func refuses(c *conversion, f *field, why string) { c.refuse(f, why) }

// always describes a field of which the agent does the same whatever the field says. Another value
// has a weight. Durations and empty values are compared by their meaning.
func always(value string, weight func(c *conversion, f *field, why string), why string) rule {
	return func(c *conversion, f *field) {
		found := f.node.Value
		if found == value || sameDuration(found, value) || found == "0s" || found == "" {
			return // a kubelet takes 0 and the empty string for its default, too
		}
		weight(c, f, fmt.Sprintf("is %q: %s", found, why))
	}
}

// alwaysIs is always for a field that is true or false.
func alwaysIs(value bool, weight func(c *conversion, f *field, why string), why string) rule {
	return func(c *conversion, f *field) {
		if found, ok := c.truth(f); ok && found != value {
			weight(c, f, fmt.Sprintf("is %t: %s", found, why))
		}
	}
}

// DefaultOOMScore is the oom_score_adj of a kubelet without oomScoreAdj.
const DefaultOOMScore = -999

func oomScore(c *conversion, f *field) {
	value, ok := c.number(f)
	switch {
	case !ok:
	case value < -1000 || value > 1000:
		c.wrong(f, "a number from -1000 to 1000")
	default:
		c.oomScore = int(value)
	}
}

func logFormat(c *conversion, f *field) {
	switch f.node.Value {
	case "", "text":
	case "json":
		c.put("log_format", "json")
	default:
		c.wrong(f, "text or json")
	}
}

func tlsVersion(c *conversion, f *field) {
	if slices.Contains([]string{"", "VersionTLS10", "VersionTLS11", "VersionTLS12"}, f.node.Value) {
		return
	}
	c.refuse(f, fmt.Sprintf("is %q: clients with TLS 1.2 are served, too; use VersionTLS12", f.node.Value))
}

func allocatable(c *conversion, f *field) {
	var names []string
	if err := f.node.Decode(&names); err != nil {
		c.wrong(f, "a list of strings")
		return
	}
	for _, name := range names {
		if name != "pods" && name != "none" && name != "" {
			c.warn(f, fmt.Sprintf("has %q: what is reserved is kept from pods, but other cgroups are not limited", name))
		}
	}
	if !slices.Contains(names, "pods") {
		c.warn(f, `lacks "pods": all pods together are always limited to what is not reserved`)
	}
}

// parent returns the first part of a field's name: of an entry of a map, that of the map.
func parent(name string) string {
	first, _, _ := strings.Cut(name, ".")
	return first
}
