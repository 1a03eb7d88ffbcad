package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wardlet/wardlet/core/api"
)

// Rejections count the pods that were not admitted, and those that give way to
// others.
type Rejections struct {
	total, preemptions *prometheus.CounterVec

	signals *names
}

// maxSignals is how many resources for which pods give way are counted apart.
const maxSignals = 32

// Rejections adds their metrics.
func (m *Metrics) Rejections() *Rejections {
	r := &Rejections{
		total: counters(kubelet, "admission_rejections_total", "Pods that were not admitted.", "reason"),
		preemptions: counters(kubelet, "preemptions",
			"Pods that had to give way to critical ones, by the first resource of which there was too little.", "preemption_signal"),
		signals: newNames(maxSignals),
	}
	m.registry.MustRegister(r.total, r.preemptions)
	return r
}

// Rejected counts a pod that was not admitted. Only known reasons are counted apart.
// All that ask for more than there is of an extended resource count as one, as with a
// kubelet.
func (r *Rejections) Rejected(reason string) {
	switch {
	case knownReasons[reason]:
	case strings.HasPrefix(reason, "OutOf"):
		reason = "OutOfExtendedResources"
	default:
		reason = "Other"
	}
	r.total.WithLabelValues(reason).Inc()
}

// Preempted says that so many pods have to give way to another, and what there is
// too little of. Authors of pods choose names of resources, too.
func (r *Rejections) Preempted(resource string, pods int) {
	r.preemptions.WithLabelValues(r.signals.of(strings.ToValidUTF8(resource, ""))).Add(float64(pods))
}

// knownReasons are a kubelet's, and then ours, of which a kubelet counts some as
// Other.
var knownReasons = map[string]bool{
	"AppArmor": true, "PodOSSelectorNodeLabelDoesNotMatch": true, "PodOSNotSupported": true, "InvalidNodeInfo": true,
	"InitContainerRestartPolicyForbidden": true, "SupplementalGroupsPolicyNotSupported": true, "UnexpectedAdmissionError": true,
	"UnknownReason": true, "UnexpectedPredicateFailureType": true, "OutOfcpu": true, "OutOfmemory": true,
	"OutOfephemeral-storage": true, "OutOfpods": true, "PodLevelResourcesNotSupported": true, "PodFeatureUnsupported": true,
	"node(s) had untolerated taint(s)": true, "Evicted": true, "SysctlForbidden": true, "TopologyAffinityError": true, "NodeShutdown": true,
	"VolumeAttachmentLimitExceeded": true,

	"NodeName": true, "NodeAffinity": true, "NodePorts": true, "TaintToleration": true, "PriorityTooHigh": true, "Preempting": true,
	api.ReasonPolicyDenied: true, api.ReasonPolicyFailed: true, api.ReasonDefaultVerdict: true,
}
