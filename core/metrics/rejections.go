package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wardlet/wardlet/core/api"
)

// Rejections counts the pods that were not admitted, and the preempted ones.
type Rejections struct {
	total, preemptions *prometheus.CounterVec

	signals *names
}

// maxSignals limits the resources by which preemptions are counted.
const maxSignals = 32

// Rejections adds the metrics of rejections.
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

// Rejected counts a pod that was not admitted. Unknown reasons are counted together. So are
// shortages of extended resources, as in a kubelet.
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

// Preempted counts preempted pods, by the resource that was short. Names of resources are limited,
// because authors of pods choose them.
func (r *Rejections) Preempted(resource string, pods int) {
	r.preemptions.WithLabelValues(r.signals.of(strings.ToValidUTF8(resource, ""))).Add(float64(pods))
}

// knownReasons are first a kubelet's reasons, and then Wardlet's. A kubelet counts some of the
// latter as Other.
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

// Evictions counts the pods that were evicted because they or the node ran out of a resource, and the
// images that were removed.
type Evictions struct{ total, images *prometheus.CounterVec }

// Evictions adds the metric of evictions.
func (m *Metrics) Evictions() *Evictions {
	e := &Evictions{
		total:  counters(kubelet, "evictions", "Pods that were evicted, by the signal whose threshold was met.", "eviction_signal"),
		images: counters(kubelet, "image_garbage_collected_total", "Images that were removed because nothing needed them. The reason is age, space, or pressure.", "reason"),
	}
	m.registry.MustRegister(e.total, e.images)
	return e
}

// Evicted counts an evicted pod. signal is one of a few values, which no pod chooses.
func (e *Evictions) Evicted(signal string) { e.total.WithLabelValues(signal).Inc() }

// ImageRemoved counts a removed image. reason is one of a few values.
func (e *Evictions) ImageRemoved(reason string) { e.images.WithLabelValues(reason).Inc() }
