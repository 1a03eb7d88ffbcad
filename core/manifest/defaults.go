package manifest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	helper "k8s.io/component-helpers/resource"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// setDefaults sets the defaults of an API server (v1.36) in the supported fields.
func setDefaults(p *v1.Pod) {
	s := &p.Spec
	setDefault(&s.RestartPolicy, v1.RestartPolicyAlways)
	setDefault(&s.DNSPolicy, v1.DNSClusterFirst)
	setDefault(&s.SchedulerName, v1.DefaultSchedulerName)
	setDefault(&s.TerminationGracePeriodSeconds, new(int64(v1.DefaultTerminationGracePeriodSeconds)))
	setDefault(&s.EnableServiceLinks, new(v1.DefaultEnableServiceLinks))
	setDefault(&s.SecurityContext, new(v1.PodSecurityContext{}))
	for i := range s.Volumes {
		source := &s.Volumes[i].VolumeSource
		switch {
		case source.HostPath != nil:
			setDefault(&source.HostPath.Type, new(v1.HostPathUnset))
		case source.Secret != nil:
			setDefault(&source.Secret.DefaultMode, new(v1.SecretVolumeSourceDefaultMode))
		case source.ConfigMap != nil:
			setDefault(&source.ConfigMap.DefaultMode, new(v1.ConfigMapVolumeSourceDefaultMode))
		case source.DownwardAPI != nil:
			setDefault(&source.DownwardAPI.DefaultMode, new(v1.DownwardAPIVolumeSourceDefaultMode))
			setFieldDefaults(source.DownwardAPI.Items)
		case source.Projected != nil:
			setDefault(&source.Projected.DefaultMode, new(v1.ProjectedVolumeSourceDefaultMode))
			for j := range source.Projected.Sources {
				if d := source.Projected.Sources[j].DownwardAPI; d != nil {
					setFieldDefaults(d.Items)
				}
			}
		case *source == (v1.VolumeSource{}):
			setDefault(&source.EmptyDir, new(v1.EmptyDirVolumeSource{}))
		}
	}
	for c := range pod.Containers(p) {
		setContainerDefaults(c, s.HostNetwork)
	}
	if s.Resources != nil {
		setPodResources(p)
		roundUp(s.Resources.Limits)
		roundUp(s.Resources.Requests)
	}
	roundUp(s.Overhead)
	for c := range pod.Containers(p) {
		roundUp(c.Resources.Limits)
		roundUp(c.Resources.Requests)
	}
}

// setPodResources sets the defaults of the resources of a whole pod that has limits or requests. A
// limit of huge pages is the sum of those of the containers. A request is the sum of those of the
// containers, else the limit.
func setPodResources(p *v1.Pod) {
	r := p.Spec.Resources
	if len(r.Limits)+len(r.Requests) == 0 {
		return
	}
	for name, sum := range helper.AggregateContainerLimits(p, helper.PodResourcesOptions{}) {
		if _, requested := r.Requests[name]; !requested && pod.IsHugePages(name) {
			setQuantity(&r.Limits, name, sum)
		}
	}
	if len(r.Limits) == 0 {
		return
	}
	requests := helper.AggregateContainerRequests(p, helper.PodResourcesOptions{})
	for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory} {
		if sum, ok := requests[name]; ok {
			setQuantity(&r.Requests, name, sum)
		}
	}
	for name, limit := range r.Limits {
		setQuantity(&r.Requests, name, limit)
	}
}

// setQuantity sets the quantity of a resource that a list does not have yet.
func setQuantity(list *v1.ResourceList, name v1.ResourceName, q resource.Quantity) {
	if *list == nil {
		*list = v1.ResourceList{}
	}
	if _, ok := (*list)[name]; !ok {
		(*list)[name] = q.DeepCopy()
	}
}

func setFieldDefaults(items []v1.DownwardAPIVolumeFile) {
	for i := range items {
		if items[i].FieldRef != nil {
			setDefault(&items[i].FieldRef.APIVersion, "v1")
		}
	}
}

func setContainerDefaults(c *v1.Container, hostNetwork bool) {
	setDefault(&c.TerminationMessagePath, v1.TerminationMessagePathDefault)
	setDefault(&c.TerminationMessagePolicy, v1.TerminationMessageReadFile)
	setDefault(&c.ImagePullPolicy, pod.PullPolicy(c.Image))
	for i := range c.Env {
		from := c.Env[i].ValueFrom
		if from != nil && from.FieldRef != nil {
			setDefault(&from.FieldRef.APIVersion, "v1")
		}
		if from != nil && from.FileKeyRef != nil {
			setDefault(&from.FileKeyRef.Optional, new(false))
		}
	}
	for i := range c.Ports {
		port := &c.Ports[i]
		setDefault(&port.Protocol, v1.ProtocolTCP)
		if hostNetwork {
			setDefault(&port.HostPort, port.ContainerPort)
		}
	}
	for _, probe := range []*v1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe != nil {
			setProbeDefaults(probe)
		}
	}
	if l := c.Lifecycle; l != nil {
		for _, hook := range []*v1.LifecycleHandler{l.PostStart, l.PreStop} {
			if hook != nil && hook.HTTPGet != nil {
				setHTTPDefaults(hook.HTTPGet)
			}
		}
	}
	if c.Resources.Limits != nil && c.Resources.Requests == nil {
		c.Resources.Requests = v1.ResourceList{}
	}
	for name, limit := range c.Resources.Limits {
		setQuantity(&c.Resources.Requests, name, limit)
	}
}

func setProbeDefaults(p *v1.Probe) {
	setDefault(&p.TimeoutSeconds, 1)
	setDefault(&p.PeriodSeconds, 10)
	setDefault(&p.SuccessThreshold, 1)
	setDefault(&p.FailureThreshold, 3)
	if p.HTTPGet != nil {
		setHTTPDefaults(p.HTTPGet)
	}
	if p.GRPC != nil {
		setDefault(&p.GRPC.Service, new(""))
	}
}

func setHTTPDefaults(h *v1.HTTPGetAction) {
	setDefault(&h.Path, "/")
	setDefault(&h.Scheme, v1.URISchemeHTTP)
}

// roundUp rounds quantities up to thousandths, the smallest unit that is counted.
func roundUp(list v1.ResourceList) {
	for name, quantity := range list {
		quantity.RoundUp(resource.Milli)
		list[name] = quantity
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// systemClasses are the priorities of the priority classes that every cluster has. A node cannot
// look up other classes.
var systemClasses = map[string]int32{
	"system-cluster-critical": 2_000_000_000,
	"system-node-critical":    2_000_001_000,
}

// resolvePriority sets the priority of a manifest's pod to that of its class. Another priority in
// the manifest is a fault.
func resolvePriority(s *v1.PodSpec) field.ErrorList {
	of, known := systemClasses[s.PriorityClassName]
	if !known {
		return nil
	}
	setDefault(&s.Priority, new(of))
	if *s.Priority != of {
		return field.ErrorList{field.Invalid(specPath.Child("priority"), *s.Priority,
			fmt.Sprintf("must be that of the class %s, %d, or absent", s.PriorityClassName, of))}
	}
	return nil
}

// tolerateAll makes a pod tolerate every NoExecute taint without a time limit: a node that has lost
// its cluster must not reject its own pods. It replaces a toleration of all NoExecute taints that
// has a limit.
func tolerateAll(s *v1.PodSpec) {
	all := v1.Toleration{Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute}
	said := false
	for i := range s.Tolerations {
		if all.MatchToleration(&s.Tolerations[i]) {
			s.Tolerations[i], said = all, true
		}
	}
	if !said {
		s.Tolerations = append(s.Tolerations, all)
	}
}

// fieldFaults returns the faults of fields with their lines. The faults quote the value in the
// document, not the converted value. If a request comes from the limit because the document has
// none, and the limit has a fault, the request's fault is left out.
func fieldFaults(t tree, errs field.ErrorList) faults {
	var f faults
	for _, err := range errs {
		if len(f) > api.MaxFaults {
			break
		}
		_, value := t.walk(err.Field)
		limit := strings.Replace(err.Field, ".requests[", ".limits[", 1)
		if value == nil && limit != err.Field && slices.ContainsFunc(errs, func(other *field.Error) bool { return other.Field == limit }) {
			continue
		}
		if value != nil && value.Kind == yaml.ScalarNode && sameQuantity(err.BadValue, value.Value) {
			err.BadValue = value.Value
		}
		f = append(f, fault{t.at(err.Field), err})
	}
	return f
}

// sameQuantity reports whether a text is the same quantity as the one that a fault quotes in
// another form.
func sameQuantity(quoted any, written string) bool {
	text, _ := quoted.(string)
	a, err := resource.ParseQuantity(text)
	if err != nil || hugeQuantity.MatchString(written) {
		return false
	}
	b, err := resource.ParseQuantity(written)
	return err == nil && a.Cmp(b) == 0
}

// aboutWritten makes the faults of a pod's name quote the name in the document. If only the name
// with the node's name appended has a fault, the message has that name, too.
func aboutWritten(errs field.ErrorList, written, name string) {
	valid := len(apivalidation.NameIsDNSSubdomain(written, false)) == 0
	for _, err := range errs {
		if err.Field != "metadata.name" || err.BadValue != name {
			continue
		}
		err.BadValue = written
		if valid {
			err.Detail = fmt.Sprintf("with the node's name it is %q: %s", name, err.Detail)
		}
	}
}

// stamp sets the pod's name, namespace and node, and the annotation with its source. It makes the
// pod tolerate every NoExecute taint.
func stamp(p *v1.Pod, from DecodeFrom) {
	p.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	place(p, from.NodeName)
	p.Spec.NodeName = from.NodeName
	if p.Annotations == nil {
		p.Annotations = map[string]string{}
	}
	p.Annotations[pod.AnnotationSource] = from.Source
	tolerateAll(&p.Spec)
	p.Status.Phase = v1.PodPending
}

// uidScheme identifies the algorithm for UIDs. Changing it, or anything in deriveUID, restarts
// every pod of every node at its next upgrade.
const uidScheme = "wardlet pod uid 1"

// deriveUID returns the UID of a pod, derived from its document as it was written (the values, with
// keys sorted and before any default), the name of its source, its identity and the node's name.
// The UID is the first half of a SHA-256, in hex. Every part is preceded by its length, so that two
// different sets of parts never give the same input.
//
// Two fields are left out, because they are ignored elsewhere, too: metadata.creationTimestamp and
// status. A null is a value (a label that is null is an empty label). Numbers are compared by value
// (1.0 is 1). Anchors are replaced by their values.
func deriveUID(doc map[string]any, source string, identity types.NamespacedName, node string) (types.UID, error) {
	doc = maps.Clone(doc)
	delete(doc, "status")
	if meta, ok := doc["metadata"].(map[string]any); ok {
		meta = maps.Clone(meta)
		delete(meta, "creationTimestamp")
		doc["metadata"] = meta
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return "", fmt.Errorf("derive the UID: %w", err)
	}
	var buf []byte
	for _, part := range [][]byte{
		[]byte(uidScheme), text, []byte(source), []byte(identity.Namespace), []byte(identity.Name), []byte(node),
	} {
		buf = binary.BigEndian.AppendUint64(buf, uint64(len(part)))
		buf = append(buf, part...)
	}
	return types.UID(pod.Digest(buf)[:32]), nil
}
