package describe

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// Context has the input of Pod beside the pod itself.
type Context struct {
	// Facts are Wardlet's own lines, which kubectl does not print.
	Facts []Fact
	// Events are those about the pod, in any order.
	Events []api.Event
	// HideEvents leaves out the section of events.
	HideEvents bool
	// Now is the reference time for ages.
	Now time.Time
}

// Fact is a labelled line.
type Fact struct{ Label, Text string }

// Pod writes a pod as `kubectl describe pod` does, in its order and words. It returns the errors of
// to.
func Pod(to io.Writer, p *v1.Pod, c *Context) error {
	w := newWriter(to)
	w.identity(p)
	w.status(p, c.Now)
	w.containers(p)
	w.conditions(p)
	w.volumes(p.Spec.Volumes)
	w.row(0, "QoS Class:", pod.QOS(p))
	w.list(0, "Node-Selectors:", pairs(p.Spec.NodeSelector))
	w.list(0, "Tolerations:", tolerations(p.Spec.Tolerations))
	if spread := topologySpread(p.Spec.TopologySpreadConstraints); len(spread) > 0 {
		w.list(0, "Topology Spread Constraints:", spread)
	}
	if group := p.Spec.SchedulingGroup; group != nil {
		w.row(0, "SchedulingGroup:")
		w.row(1, "PodGroupName:", or(group.PodGroupName, ""))
	}
	if len(c.Facts) > 0 {
		w.row(0, "Wardlet:")
		for _, f := range c.Facts {
			w.row(1, f.Label+":", f.Text)
		}
	}
	if !c.HideEvents {
		w.events(c.Events, c.Now)
	}
	return w.tabs.Flush()
}

// identity writes the pod's name and its node.
func (w *writer) identity(p *v1.Pod) {
	w.row(0, "Name:", p.Name)
	w.row(0, "Namespace:", p.Namespace)
	w.rowIf(0, "Priority:", or(p.Spec.Priority, ""))
	w.rowIf(0, "Priority Class Name:", p.Spec.PriorityClassName)
	w.rowIf(0, "Runtime Class Name:", or(p.Spec.RuntimeClassName, ""))
	w.rowIf(0, "Service Account:", p.Spec.ServiceAccountName)
	node := none
	if p.Spec.NodeName != "" {
		node = p.Spec.NodeName + "/" + p.Status.HostIP
	}
	w.row(0, "Node:", node)
	if start := p.Status.StartTime; start != nil {
		w.row(0, "Start Time:", start.Format(time.RFC1123Z))
	}
	w.list(0, "Labels:", pairs(p.Labels))
	w.list(0, "Annotations:", annotations(p.Annotations))
}

// status writes the state of the pod as a whole.
func (w *writer) status(p *v1.Pod, now time.Time) {
	if p.DeletionTimestamp != nil && !pod.IsTerminal(p.Status.Phase) {
		w.row(0, "Status:", "Terminating (lasts "+age(now, p.DeletionTimestamp.Time)+")")
		if grace := p.DeletionGracePeriodSeconds; grace != nil {
			w.row(0, "Termination Grace Period:", fmt.Sprintf("%ds", *grace))
		}
	} else {
		w.row(0, "Status:", p.Status.Phase)
	}
	w.rowIf(0, "Reason:", p.Status.Reason)
	w.rowIf(0, "Message:", p.Status.Message)
	if s := p.Spec.SecurityContext; s != nil {
		w.seccomp(0, 0, s.SeccompProfile)
	}
	w.row(0, "IP:", p.Status.PodIP)
	if len(p.Status.PodIPs) == 0 {
		w.row(0, "IPs:", none)
	} else {
		w.row(0, "IPs:")
	}
	for _, ip := range p.Status.PodIPs {
		w.row(1, "IP:", ip.IP)
	}
	if owner := metav1.GetControllerOf(p); owner != nil {
		w.row(0, "Controlled By:", owner.Kind+"/"+owner.Name)
	}
	w.rowIf(0, "NominatedNodeName:", p.Status.NominatedNodeName)
	if p.Spec.Resources != nil {
		w.row(0, "Resources:")
		w.resources(1, p.Spec.Resources)
	}
}

// seccomp writes a seccomp profile, and the name of a local one at its own level.
func (w *writer) seccomp(level, nameLevel int, profile *v1.SeccompProfile) {
	if profile == nil {
		return
	}
	w.row(level, "SeccompProfile:", profile.Type)
	if profile.Type == v1.SeccompProfileTypeLocalhost {
		w.row(nameLevel, "LocalhostProfile:", or(profile.LocalhostProfile, ""))
	}
}

// conditions writes readiness gates and conditions.
func (w *writer) conditions(p *v1.Pod) {
	if len(p.Spec.ReadinessGates) > 0 {
		w.row(0, "Readiness Gates:")
		w.row(1, "Type", "Status")
	}
	for _, g := range p.Spec.ReadinessGates {
		status := none
		if c := api.Condition(&p.Status, g.ConditionType); c != nil {
			status = string(c.Status)
		}
		w.row(1, g.ConditionType+" ", status+" ")
	}
	if len(p.Status.Conditions) > 0 {
		w.row(0, "Conditions:")
		w.row(1, "Type", "Status")
	}
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		w.row(1, c.Type+" ", c.Status+" ")
	}
}

// tolerations returns a line for each, sorted by key.
func tolerations(all []v1.Toleration) []string {
	sorted := slices.SortedStableFunc(slices.Values(all), func(a, b v1.Toleration) int { return cmp.Compare(a.Key, b.Key) })
	var lines []string
	for i := range sorted {
		t := &sorted[i]
		line := t.Key
		if t.Value != "" {
			line += "=" + t.Value
		}
		if t.Effect != "" {
			line += ":" + string(t.Effect)
		}
		if t.Operator == v1.TolerationOpExists && t.Value == "" {
			if line != "" {
				line += " "
			}
			line += "op=Exists"
		}
		if t.TolerationSeconds != nil {
			line += fmt.Sprintf(" for %ds", *t.TolerationSeconds)
		}
		lines = append(lines, line)
	}
	return lines
}

// topologySpread returns a line for each constraint, sorted by topology key.
func topologySpread(all []v1.TopologySpreadConstraint) []string {
	sorted := slices.SortedStableFunc(slices.Values(all), func(a, b v1.TopologySpreadConstraint) int { return cmp.Compare(a.TopologyKey, b.TopologyKey) })
	var lines []string
	for i := range sorted {
		c := &sorted[i]
		line := fmt.Sprintf("%s:%s when max skew %d is exceeded", c.TopologyKey, c.WhenUnsatisfiable, c.MaxSkew)
		if c.LabelSelector != nil {
			line += " for selector " + metav1.FormatLabelSelector(c.LabelSelector)
		}
		lines = append(lines, line)
	}
	return lines
}
