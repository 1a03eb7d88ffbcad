package kubeletconfig

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/strict"
)

// Command is what the command line of a kubelet says.
type Command struct {
	// Config is the file of the configuration, and ConfigDir the directory of its drop-in files. Both may
	// be empty.
	Config, ConfigDir string
	// Kubeconfig is empty for a node without a cluster. BootstrapKubeconfig may be empty.
	Kubeconfig, BootstrapKubeconfig string
	// RootDir is the directory of pods, and CertDir that of certificates.
	RootDir, CertDir string
	// Version and Help ask for the version, and for help, instead of a node agent.
	Version, Help bool

	hostname, nodeIP, nodeLabels   string
	providerConfig, providerBinDir string
	fields                         []*field
	warnings                       strict.Errors
}

// The defaults of a kubelet's flags.
const (
	DefaultRootDir = "/var/lib/kubelet"
	DefaultCertDir = "/var/lib/kubelet/pki"
)

// commandLine is the name of the flags in errors and warnings.
const commandLine = "the kubelet's flags"

// flag is a flag that sets a field of the configuration.
type flag struct {
	field string
	// list is true for a flag with several values; separator is what separates name and value in a flag
	// with several entries of a map.
	list      bool
	separator string
}

// fieldFlags are the flags that set fields, and win over files.
var fieldFlags = map[string]flag{
	"address":                                      {field: "address"},
	"allowed-unsafe-sysctls":                       {field: "allowedUnsafeSysctls", list: true},
	"anonymous-auth":                               {field: "authentication.anonymous.enabled"},
	"authentication-token-webhook":                 {field: "authentication.webhook.enabled"},
	"authentication-token-webhook-cache-ttl":       {field: "authentication.webhook.cacheTTL"},
	"authorization-mode":                           {field: "authorization.mode"},
	"authorization-webhook-cache-authorized-ttl":   {field: "authorization.webhook.cacheAuthorizedTTL"},
	"authorization-webhook-cache-unauthorized-ttl": {field: "authorization.webhook.cacheUnauthorizedTTL"},
	"cgroup-driver":                                {field: "cgroupDriver"},
	"cgroup-root":                                  {field: "cgroupRoot"},
	"cgroups-per-qos":                              {field: "cgroupsPerQOS"},
	"client-ca-file":                               {field: "authentication.x509.clientCAFile"},
	"cluster-dns":                                  {field: "clusterDNS", list: true},
	"cluster-domain":                               {field: "clusterDomain"},
	"container-log-max-files":                      {field: "containerLogMaxFiles"},
	"container-log-max-size":                       {field: "containerLogMaxSize"},
	"container-runtime-endpoint":                   {field: "containerRuntimeEndpoint"},
	"contention-profiling":                         {field: "enableContentionProfiling"},
	"cpu-cfs-quota":                                {field: "cpuCFSQuota"},
	"cpu-cfs-quota-period":                         {field: "cpuCFSQuotaPeriod"},
	"cpu-manager-policy":                           {field: "cpuManagerPolicy"},
	"cpu-manager-policy-options":                   {field: "cpuManagerPolicyOptions"},
	"cpu-manager-reconcile-period":                 {field: "cpuManagerReconcilePeriod"},
	"enable-controller-attach-detach":              {field: "enableControllerAttachDetach"},
	"enable-debugging-handlers":                    {field: "enableDebuggingHandlers"},
	"enable-server":                                {field: "enableServer"},
	"enforce-node-allocatable":                     {field: "enforceNodeAllocatable", list: true},
	"event-burst":                                  {field: "eventBurst"},
	"event-qps":                                    {field: "eventRecordQPS"},
	"eviction-hard":                                {field: "evictionHard", separator: "<"},
	"eviction-max-pod-grace-period":                {field: "evictionMaxPodGracePeriod"},
	"eviction-minimum-reclaim":                     {field: "evictionMinimumReclaim", separator: "="},
	"eviction-pressure-transition-period":          {field: "evictionPressureTransitionPeriod"},
	"eviction-soft":                                {field: "evictionSoft", separator: "<"},
	"eviction-soft-grace-period":                   {field: "evictionSoftGracePeriod", separator: "="},
	"fail-cgroupv1":                                {field: "failCgroupV1"},
	"fail-swap-on":                                 {field: "failSwapOn"},
	"feature-gates":                                {field: "featureGates", separator: "="},
	"file-check-frequency":                         {field: "fileCheckFrequency"},
	"hairpin-mode":                                 {field: "hairpinMode"},
	"healthz-bind-address":                         {field: "healthzBindAddress"},
	"healthz-port":                                 {field: "healthzPort"},
	"http-check-frequency":                         {field: "httpCheckFrequency"},
	"image-gc-high-threshold":                      {field: "imageGCHighThresholdPercent"},
	"image-gc-low-threshold":                       {field: "imageGCLowThresholdPercent"},
	"image-service-endpoint":                       {field: "imageServiceEndpoint"},
	"kernel-memcg-notification":                    {field: "kernelMemcgNotification"},
	"kube-api-burst":                               {field: "kubeAPIBurst"},
	"kube-api-content-type":                        {field: "contentType"},
	"kube-api-qps":                                 {field: "kubeAPIQPS"},
	"kube-reserved":                                {field: "kubeReserved", separator: "="},
	"kube-reserved-cgroup":                         {field: "kubeReservedCgroup"},
	"kubelet-cgroups":                              {field: "kubeletCgroups"},
	"local-storage-capacity-isolation":             {field: "localStorageCapacityIsolation"},
	"make-iptables-util-chains":                    {field: "makeIPTablesUtilChains"},
	"manifest-url":                                 {field: "staticPodURL"},
	"manifest-url-header":                          {field: "staticPodURLHeader"},
	"max-open-files":                               {field: "maxOpenFiles"},
	"max-pods":                                     {field: "maxPods"},
	"memory-manager-policy":                        {field: "memoryManagerPolicy"},
	"minimum-image-ttl-duration":                   {field: "imageMinimumGCAge"},
	"node-status-max-images":                       {field: "nodeStatusMaxImages"},
	"node-status-update-frequency":                 {field: "nodeStatusUpdateFrequency"},
	"logging-format":                               {field: "logging.format"},
	"oom-score-adj":                                {field: "oomScoreAdj"},
	"pod-cidr":                                     {field: "podCIDR"},
	"pod-manifest-path":                            {field: "staticPodPath"},
	"pod-max-pids":                                 {field: "podPidsLimit"},
	"pods-per-core":                                {field: "podsPerCore"},
	"port":                                         {field: "port"},
	"protect-kernel-defaults":                      {field: "protectKernelDefaults"},
	"provider-id":                                  {field: "providerID"},
	"qos-reserved":                                 {field: "qosReserved"},
	"read-only-port":                               {field: "readOnlyPort"},
	"register-node":                                {field: "registerNode"},
	"register-with-taints":                         {field: "registerWithTaints", list: true},
	"registry-burst":                               {field: "registryBurst"},
	"registry-qps":                                 {field: "registryPullQPS"},
	"reserved-cpus":                                {field: "reservedSystemCPUs"},
	"reserved-memory":                              {field: "reservedMemory"},
	"resolv-conf":                                  {field: "resolvConf"},
	"rotate-certificates":                          {field: "rotateCertificates"},
	"rotate-server-certificates":                   {field: "serverTLSBootstrap"},
	"runonce":                                      {field: "runOnce"},
	"runtime-request-timeout":                      {field: "runtimeRequestTimeout"},
	"serialize-image-pulls":                        {field: "serializeImagePulls"},
	"streaming-connection-idle-timeout":            {field: "streamingConnectionIdleTimeout"},
	"sync-frequency":                               {field: "syncFrequency"},
	"system-cgroups":                               {field: "systemCgroups"},
	"system-reserved":                              {field: "systemReserved", separator: "="},
	"system-reserved-cgroup":                       {field: "systemReservedCgroup"},
	"tls-cert-file":                                {field: "tlsCertFile"},
	"tls-cipher-suites":                            {field: "tlsCipherSuites", list: true},
	"tls-min-version":                              {field: "tlsMinVersion"},
	"tls-private-key-file":                         {field: "tlsPrivateKeyFile"},
	"topology-manager-policy":                      {field: "topologyManagerPolicy"},
	"topology-manager-policy-options":              {field: "topologyManagerPolicyOptions"},
	"topology-manager-scope":                       {field: "topologyManagerScope"},
	"volume-plugin-dir":                            {field: "volumePluginDir"},
	"volume-stats-agg-period":                      {field: "volumeStatsAggPeriod"},
	"seccomp-default":                              {field: "seccompDefault"},
}

// ignoredSwitches are ignored flags that may stand without a value.
var ignoredSwitches = []string{
	"log-json-split-stream", "log-text-split-stream", "experimental-allocatable-ignore-eviction", "enable-load-reader", "log-cadvisor-usage", "storage-driver-secure",
}

// ignoredFlags are the flags without an effect on pods, and those whose effect the agent always has.
var ignoredFlags = []string{
	"vmodule", "log-flush-frequency", "log-json-info-buffer-size", "log-text-info-buffer-size",
	"pod-infra-container-image", "runtime-cgroups", "experimental-mounter-path",
	// Those of cAdvisor.
	"application-metrics-count-limit", "boot-id-file", "container-hints", "containerd", "containerd-namespace", "event-storage-age-limit",
	"event-storage-event-limit", "global-housekeeping-interval", "housekeeping-interval", "machine-id-file", "storage-driver-buffer-duration",
	"storage-driver-db", "storage-driver-host", "storage-driver-password", "storage-driver-table", "storage-driver-user",
	"minimum-container-ttl-duration", "maximum-dead-containers-per-container", "maximum-dead-containers",
}

// ParseCommand reads the flags of a kubelet, without the name of the program. The error names each
// flag that a kubelet does not have, or that the agent cannot honour; its type is then strict.Errors.
func ParseCommand(args []string) (*Command, error) {
	c := &Command{}
	flags := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
	})
	for name, into := range map[string]*string{
		"config": &c.Config, "config-dir": &c.ConfigDir, "kubeconfig": &c.Kubeconfig, "bootstrap-kubeconfig": &c.BootstrapKubeconfig,
		"hostname-override": &c.hostname, "node-ip": &c.nodeIP, "node-labels": &c.nodeLabels,
		"image-credential-provider-config": &c.providerConfig, "image-credential-provider-bin-dir": &c.providerBinDir,
	} {
		flags.StringVar(into, name, "", "")
	}
	flags.StringVar(&c.RootDir, "root-dir", DefaultRootDir, "")
	flags.StringVar(&c.CertDir, "cert-dir", DefaultCertDir, "")
	version := flags.String("version", "false", "")
	flags.Lookup("version").NoOptDefVal = "true"
	flags.BoolVarP(&c.Help, "help", "h", false, "")
	flags.StringP("v", "v", "", "")
	provider := flags.String("cloud-provider", "", "")
	lock := flags.String("lock-file", "", "")
	contention := flags.Bool("exit-on-lock-contention", false, "")
	for _, name := range ignoredFlags {
		flags.String(name, "", "")
	}
	for _, name := range ignoredSwitches {
		flags.Bool(name, false, "")
	}
	values := map[string]*[]string{}
	for name := range fieldFlags {
		// Not a slice of pflag's: that splits at commas, and lets quotes hide them.
		values[name] = flags.StringArray(name, nil, "")
		if fieldFlags[name].boolean() {
			flags.Lookup(name).NoOptDefVal = "true"
		}
	}
	if err := flags.Parse(args); err != nil {
		return nil, strict.Errors{{File: commandLine, Message: err.Error()}}
	}
	var faults strict.Errors
	switch is, err := strconv.ParseBool(*version); {
	case err == nil:
		c.Version = is
	case *version == "raw":
		c.Version = true
	default:
		faults = append(faults, strict.Error{File: commandLine, Key: "--version", Message: fmt.Sprintf("want true, false or raw, found %q", *version)})
	}
	if rest := flags.Args(); len(rest) > 0 {
		faults = append(faults, strict.Error{File: commandLine, Message: fmt.Sprintf("%q is no flag", rest[0])})
	}
	if *provider != "" {
		faults = append(faults, strict.Error{File: commandLine, Key: "--cloud-provider", Message: "the agent works with no cloud provider; leave the flag out"})
	}
	if *lock != "" || *contention {
		c.warnings = append(c.warnings, strict.Error{File: commandLine, Key: "--lock-file", Message: "has no effect: the agent locks its state directory"})
	}
	switch {
	case c.nodeIP == "0.0.0.0": // the family that counts anyway
		c.nodeIP = ""
	case strings.Contains(c.nodeIP, ",") || c.nodeIP == "::":
		faults = append(faults, strict.Error{File: commandLine, Key: "--node-ip", Message: fmt.Sprintf("is %q: the node and the pods of its network have one address; name one", c.nodeIP)})
	}
	for name, all := range values {
		if !flags.Changed(name) {
			continue
		}
		fields, err := fieldFlags[name].fields(name, *all)
		if err != nil {
			faults = append(faults, strict.Error{File: commandLine, Key: "--" + name, Message: err.Error()})
		}
		c.fields = append(c.fields, fields...)
	}
	if len(faults) > 0 {
		slices.SortFunc(faults, func(a, b strict.Error) int { return strings.Compare(a.Key, b.Key) })
		return nil, faults
	}
	slices.SortFunc(c.fields, func(a, b *field) int { return strings.Compare(a.name, b.name) })
	return c, nil
}

// boolean reports whether the flag may stand without a value: its field is true or false.
func (f flag) boolean() bool { return booleans[f.field] }

// booleans are the fields that are true or false and have flags.
var booleans = set("enableServer", "failSwapOn", "failCgroupV1", "authentication.anonymous.enabled", "authentication.webhook.enabled", "serverTLSBootstrap",
	"rotateCertificates", "enableDebuggingHandlers", "enableContentionProfiling", "cgroupsPerQOS", "runOnce", "cpuCFSQuota", "enableControllerAttachDetach",
	"makeIPTablesUtilChains", "kernelMemcgNotification", "localStorageCapacityIsolation", "serializeImagePulls", "protectKernelDefaults", "registerNode", "seccompDefault")

// fields returns the fields that the values of a flag set, in the form of a file.
func (f flag) fields(name string, values []string) ([]*field, error) {
	made := func(of string, node *yaml.Node) *field {
		return &field{name: of, file: commandLine + ": --" + name, node: node}
	}
	last := values[len(values)-1]
	switch {
	case f.field == "registerWithTaints":
		node, err := taintList(values)
		return []*field{made(f.field, node)}, err
	case f.list:
		node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, part := range parted(values) {
			node.Content = append(node.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: part})
		}
		return []*field{made(f.field, node)}, nil
	case f.separator != "":
		var all []*field
		gates := f.field == "featureGates"
		if !gates { // a kubelet adds the gates of a flag to those of files
			all = append(all, made(f.field, &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}))
		}
		for _, part := range parted(values) {
			key, value, ok := strings.Cut(part, f.separator)
			if !ok {
				return nil, fmt.Errorf("want NAME%sVALUE, found %q", f.separator, part)
			}
			node := scalar(strings.TrimSpace(value))
			if gates {
				var err error
				if node, err = truth(strings.TrimSpace(value)); err != nil {
					return nil, err
				}
			}
			all = append(all, made(f.field+"."+strings.TrimSpace(key), node))
		}
		return all, nil
	case f.boolean():
		node, err := truth(last)
		return []*field{made(f.field, node)}, err
	}
	return []*field{made(f.field, scalar(last))}, nil
}

// parted returns the parts of values between commas.
func parted(values []string) (parts []string) {
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			if part = strings.TrimSpace(part); part != "" {
				parts = append(parts, part)
			}
		}
	}
	return parts
}

// scalar returns the node of a value as a file has it.
func scalar(value string) *yaml.Node {
	var doc yaml.Node
	if yaml.Unmarshal([]byte(value), &doc) == nil && len(doc.Content) == 1 && doc.Content[0].Kind == yaml.ScalarNode {
		n := *doc.Content[0]
		n.Line = 0
		return &n
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// truth returns the node of a flag that is true or false, as a file has it.
func truth(value string) (*yaml.Node, error) {
	is, err := strconv.ParseBool(value)
	if err != nil {
		return nil, fmt.Errorf("want true or false, found %q", value)
	}
	return scalar(strconv.FormatBool(is)), nil
}

// taintList returns the taints KEY=VALUE:EFFECT of a flag as a file has them.
func taintList(values []string) (*yaml.Node, error) {
	var all []v1.Taint
	for _, part := range parted(values) {
		rest, effect, ok := strings.Cut(part, ":")
		key, value, _ := strings.Cut(rest, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("want KEY=VALUE:EFFECT, found %q", part)
		}
		all = append(all, v1.Taint{Key: key, Value: value, Effect: v1.TaintEffect(effect)})
	}
	node := &yaml.Node{}
	return node, node.Encode(all)
}
