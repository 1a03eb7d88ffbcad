package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wardlet/wardlet/core/strict"
)

// Node describes the node beyond the properties of its machine, and its critical pods.
type Node struct {
	// Labels are "KEY=VALUE", for node selectors and policies. In a cluster they are labels that a node may give itself.
	Labels []string `toml:"labels"`
	// Taints are "KEY=VALUE:EFFECT" or "KEY:EFFECT".
	Taints []string `toml:"taints"`
	// MaxPods is the maximum number of pods; positive.
	MaxPods int `toml:"max_pods"`
	// ExtendedResources are "NAME=COUNT": resources that pods may request in addition to cpu, memory
	// and storage.
	ExtendedResources []string `toml:"extended_resources"`
	// Critical are pods, as NAMESPACE/NAME, for which other pods may be preempted.
	Critical []string `toml:"critical"`
	// StaticPodsAreCritical makes all pods of files and URLs critical, as in a kubelet.
	StaticPodsAreCritical bool `toml:"static_pods_are_critical"`
	// SystemReserved and KubeReserved are "NAME=QUANTITY" of cpu, memory, ephemeral-storage and pid:
	// what pods cannot request because the programs of the system, and the agent with the runtime,
	// need it.
	SystemReserved []string `toml:"system_reserved"`
	KubeReserved   []string `toml:"kube_reserved"`
	// PodPIDsLimit is the maximum number of processes of a pod; -1 for no limit.
	PodPIDsLimit int64 `toml:"pod_pids_limit"`
	// SwapBehavior is NoSwap or LimitedSwap.
	SwapBehavior string `toml:"swap_behavior"`
	// MemoryThrottlingFactor is the part of the memory between a container's request and its limit from
	// which on the kernel slows it down: above 0, up to 1; 0 for no such limit.
	MemoryThrottlingFactor float64 `toml:"memory_throttling_factor"`
	// MemoryReservationPolicy is NoReservation or TieredReservation.
	MemoryReservationPolicy string `toml:"memory_reservation_policy"`
	// ShutdownGracePeriod is the time for which a shutdown of the machine waits for pods, of which
	// ShutdownGracePeriodCriticalPods is for the critical ones; whole seconds, 0 for no time.
	ShutdownGracePeriod             time.Duration `toml:"shutdown_grace_period"`
	ShutdownGracePeriodCriticalPods time.Duration `toml:"shutdown_grace_period_critical_pods"`
	// ShutdownByPriority are "PRIORITY=DURATION": the time for the pods from that priority on, instead
	// of the two periods. See ShutdownPeriods.
	ShutdownByPriority []string `toml:"shutdown_by_priority"`
	// SingleProcessOOMKill lets the kernel kill single processes of a container that is out of memory,
	// instead of all of them. It has an effect with cgroup v2 only.
	SingleProcessOOMKill bool `toml:"single_process_oom_kill"`
}

// The values of node.swap_behavior, as in a kubelet's configuration.
const (
	// NoSwap is for containers that use no swap space.
	NoSwap = "NoSwap"
	// LimitedSwap lets containers of burstable pods use a share of the swap space, with cgroup v2.
	LimitedSwap = "LimitedSwap"
)

// The values of node.memory_reservation_policy, as in a kubelet's configuration.
const (
	// NoReservation lets the kernel take back any memory of pods that it can.
	NoReservation = "None"
	// TieredReservation protects the memory that pods request.
	TieredReservation = "TieredReservation"
)

// The limits of node.max_pods. The default is a kubelet's.
const (
	defaultMaxPods = 110
	maxMaxPods     = 10_000
)

// LabelMap returns Labels by key.
func (n *Node) LabelMap() map[string]string {
	labels := map[string]string{}
	for _, text := range n.Labels {
		key, value, _ := strings.Cut(text, "=")
		labels[key] = value
	}
	return labels
}

// TaintList returns Taints as values of the API.
func (n *Node) TaintList() []v1.Taint {
	var taints []v1.Taint
	for _, text := range n.Taints {
		if taint, err := parseTaint(text); err == nil {
			taints = append(taints, taint)
		}
	}
	return taints
}

// Extended returns ExtendedResources by name.
func (n *Node) Extended() v1.ResourceList {
	list := v1.ResourceList{}
	for _, text := range n.ExtendedResources {
		if name, count, err := parseExtended(text); err == nil {
			list[name] = *resource.NewQuantity(count, resource.DecimalSI)
		}
	}
	return list
}

func (n *Node) check(report strict.Report, inCluster bool) {
	eachOnce := func(key string, texts []string, parse func(string) (id string, err error)) {
		known := map[string]bool{}
		for i, text := range texts {
			at := fmt.Sprintf("node.%s[%d]", key, i)
			id, err := parse(text)
			switch {
			case err != nil:
				report(at, "%v, found %.80q", err, text)
			case known[id]:
				report(at, "%s is named twice", id)
			}
			known[id] = true
		}
	}
	eachOnce("labels", n.Labels, func(text string) (string, error) {
		key, err := parseLabel(text)
		if err == nil && inCluster && !isOwnLabel(key) {
			err = fmt.Errorf(`an API server lets no node give itself the label %s; leave it out and set it there with "kubectl label node", or choose a key outside kubernetes.io and k8s.io`, key)
		}
		return key, err
	})
	eachOnce("taints", n.Taints, func(text string) (string, error) {
		taint, err := parseTaint(text)
		return taint.Key + ":" + string(taint.Effect), err
	})
	eachOnce("extended_resources", n.ExtendedResources, func(text string) (string, error) {
		name, _, err := parseExtended(text)
		return string(name), err
	})
	eachOnce("critical", n.Critical, func(text string) (string, error) {
		if !isPodName(text) {
			return "", errors.New(`want NAMESPACE/NAME of a pod, for example "kube-system/dns"`)
		}
		return text, nil
	})
	n.checkReserved(report, eachOnce)
	oneOf(report, "node.swap_behavior", n.SwapBehavior, NoSwap, LimitedSwap)
	oneOf(report, "node.memory_reservation_policy", n.MemoryReservationPolicy, NoReservation, TieredReservation)
	if f := n.MemoryThrottlingFactor; !(f >= 0 && f <= 1) { // not a number, either
		report("node.memory_throttling_factor", "want more than 0, up to 1, or 0 for no limit, found %v", f)
	}
	if n.MaxPods < 1 || n.MaxPods > maxMaxPods {
		report("node.max_pods", "want 1 to %d, found %d", maxMaxPods, n.MaxPods)
	}
	eachOnce("shutdown_by_priority", n.ShutdownByPriority, func(text string) (string, error) {
		period, err := parseShutdownPeriod(text)
		return fmt.Sprintf("the priority %d", period.Priority), err
	})
	n.checkShutdown(report)
}

// isPodName reports whether text has the form NAMESPACE/NAME of a pod.
func isPodName(text string) bool {
	namespace, name, ok := strings.Cut(text, "/")
	return ok && len(validation.IsDNS1123Label(namespace)) == 0 && len(validation.IsDNS1123Subdomain(name)) == 0
}

// fixedLabels are the labels that a node derives from its machine.
var fixedLabels = []string{v1.LabelHostname, v1.LabelOSStable, v1.LabelArchStable}

func parseLabel(text string) (key string, err error) {
	key, value, ok := strings.Cut(text, "=")
	switch {
	case !ok || len(validation.IsQualifiedName(key)) > 0 || len(validation.IsValidLabelValue(value)) > 0:
		return key, errors.New(`want KEY=VALUE of a label, for example "example.com/site=north"`)
	case slices.Contains(fixedLabels, key):
		return key, errors.New("the label " + key + " is the machine's own; choose another key")
	}
	return key, nil
}

// ownLabels and ownNamespaces are the labels of Kubernetes that a node may set on itself, as in
// k8s.io/kubelet/pkg/apis/well_known_labels.go. An API server with NodeRestriction refuses a node
// with others.
var (
	ownLabels = []string{
		v1.LabelHostname, v1.LabelTopologyZone, v1.LabelTopologyRegion, v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion,
		v1.LabelInstanceType, v1.LabelInstanceTypeStable, v1.LabelOSStable, v1.LabelArchStable, "beta.kubernetes.io/os", "beta.kubernetes.io/arch",
	}
	ownNamespaces = []string{v1.LabelNamespaceSuffixKubelet, v1.LabelNamespaceSuffixNode}
)

// isOwnLabel reports whether a node of a cluster may set the label on itself.
func isOwnLabel(key string) bool {
	namespace, _, ok := strings.Cut(key, "/")
	in := func(domain string) bool { return namespace == domain || strings.HasSuffix(namespace, "."+domain) }
	return !ok || !in("kubernetes.io") && !in("k8s.io") || slices.Contains(ownLabels, key) || slices.ContainsFunc(ownNamespaces, in)
}

func parseTaint(text string) (v1.Taint, error) {
	pair, effect, ok := strings.Cut(text, ":")
	key, value, _ := strings.Cut(pair, "=")
	taint := v1.Taint{Key: key, Value: value, Effect: v1.TaintEffect(effect)}
	effects := []v1.TaintEffect{v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute}
	if !ok || len(validation.IsQualifiedName(key)) > 0 || len(validation.IsValidLabelValue(value)) > 0 || !slices.Contains(effects, taint.Effect) {
		return taint, errors.New(`want KEY=VALUE:EFFECT of a taint, for example "example.com/maintenance=yes:NoExecute"`)
	}
	return taint, nil
}

func parseExtended(text string) (name v1.ResourceName, count int64, err error) {
	key, number, ok := strings.Cut(text, "=")
	name = v1.ResourceName(key)
	count, parseErr := strconv.ParseInt(number, 10, 32)
	native := strings.Contains(key, v1.ResourceDefaultNamespacePrefix) || strings.HasPrefix(key, v1.DefaultResourceRequestsPrefix)
	if !ok || parseErr != nil || count < 0 || native || !strings.Contains(key, "/") ||
		len(validation.IsQualifiedName(v1.DefaultResourceRequestsPrefix+key)) > 0 {
		return name, count, errors.New(`want NAME=COUNT of a resource that is no Kubernetes one, for example "example.com/camera=2"`)
	}
	return name, count, nil
}

// reservable are the resources of which a node can reserve an amount.
const reservable = "cpu, memory, ephemeral-storage or pid"

// pidResource is the name of process IDs in reservations, as in a kubelet's.
const pidResource = "pid"

// Reserved returns what SystemReserved and KubeReserved reserve together. pids is the number of
// process IDs.
func (n *Node) Reserved() (reserved v1.ResourceList, pids int64) {
	reserved = v1.ResourceList{}
	for _, text := range slices.Concat(n.SystemReserved, n.KubeReserved) {
		name, amount, err := parseReserved(text)
		switch {
		case err != nil: // check reports it
		case name == pidResource:
			pids += amount.Value()
		default:
			sum := reserved[v1.ResourceName(name)]
			sum.Add(amount)
			reserved[v1.ResourceName(name)] = sum
		}
	}
	return reserved, pids
}

// ReservedMap returns the quantities of a reservation by the names of their resources.
func ReservedMap(texts []string) map[string]string {
	m := map[string]string{}
	for _, text := range texts {
		name, quantity, _ := strings.Cut(text, "=")
		m[name] = quantity
	}
	return m
}

// PodPIDs returns the maximum number of processes of a pod, 0 for no limit.
func (n *Node) PodPIDs() int64 { return max(n.PodPIDsLimit, 0) }

func (n *Node) checkReserved(report strict.Report, eachOnce func(key string, texts []string, parse func(string) (id string, err error))) {
	parse := func(text string) (string, error) {
		name, _, err := parseReserved(text)
		return name, err
	}
	eachOnce("system_reserved", n.SystemReserved, parse)
	eachOnce("kube_reserved", n.KubeReserved, parse)
	if n.PodPIDsLimit == 0 || n.PodPIDsLimit < -1 {
		report("node.pod_pids_limit", "want 1 or more processes, or -1 for no limit, found %d", n.PodPIDsLimit)
	}
}

func parseReserved(text string) (name string, amount resource.Quantity, err error) {
	name, quantity, ok := strings.Cut(text, "=")
	amount, quantityErr := resource.ParseQuantity(quantity)
	if !ok || quantityErr != nil || amount.Sign() < 0 {
		return name, amount, errors.New(`want NAME=QUANTITY of a resource, for example "memory=500Mi"`)
	}
	switch name {
	case string(v1.ResourceCPU), string(v1.ResourceMemory), string(v1.ResourceEphemeralStorage), pidResource:
		return name, amount, nil
	}
	return name, amount, fmt.Errorf("%s cannot be reserved: want %s", name, reservable)
}
