package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/wardlet/wardlet/core/strict"
)

// Node says what the node is beside the machine it runs on, and which of its pods
// come first.
type Node struct {
	// Labels are "KEY=VALUE", for node selectors and policies. In a cluster they are labels that a node may give itself.
	Labels []string `toml:"labels"`
	// Taints are "KEY=VALUE:EFFECT" or "KEY:EFFECT".
	Taints []string `toml:"taints"`
	// MaxPods is how many pods may run; positive.
	MaxPods int `toml:"max_pods"`
	// ExtendedResources are "NAME=COUNT": what pods may ask for beside cpu, memory
	// and storage.
	ExtendedResources []string `toml:"extended_resources"`
	// Critical are pods, as NAMESPACE/NAME, that others give way to.
	Critical []string `toml:"critical"`
	// StaticPodsAreCritical makes all pods of files and URLs so, as with a kubelet.
	StaticPodsAreCritical bool `toml:"static_pods_are_critical"`
}

// The bounds of node.max_pods, of which the default is a kubelet's.
const (
	defaultMaxPods = 110
	maxMaxPods     = 10_000
)

// LabelMap is Labels by key.
func (n *Node) LabelMap() map[string]string {
	labels := map[string]string{}
	for _, text := range n.Labels {
		key, value, _ := strings.Cut(text, "=")
		labels[key] = value
	}
	return labels
}

// TaintList is Taints as they are checked.
func (n *Node) TaintList() []v1.Taint {
	var taints []v1.Taint
	for _, text := range n.Taints {
		if taint, err := parseTaint(text); err == nil {
			taints = append(taints, taint)
		}
	}
	return taints
}

// Extended is ExtendedResources by name.
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
	if n.MaxPods < 1 || n.MaxPods > maxMaxPods {
		report("node.max_pods", "want 1 to %d, found %d", maxMaxPods, n.MaxPods)
	}
}

// isPodName reports whether text is NAMESPACE/NAME of a pod.
func isPodName(text string) bool {
	namespace, name, ok := strings.Cut(text, "/")
	return ok && len(validation.IsDNS1123Label(namespace)) == 0 && len(validation.IsDNS1123Subdomain(name)) == 0
}

// fixedLabels are what a node says of its machine.
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

// ownLabels and ownNamespaces are what a node may give itself of the labels of Kubernetes, as
// k8s.io/kubelet/pkg/apis/well_known_labels.go has them. An API server with NodeRestriction refuses a node that has others.
var (
	ownLabels = []string{
		v1.LabelHostname, v1.LabelTopologyZone, v1.LabelTopologyRegion, v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion,
		v1.LabelInstanceType, v1.LabelInstanceTypeStable, v1.LabelOSStable, v1.LabelArchStable, "beta.kubernetes.io/os", "beta.kubernetes.io/arch",
	}
	ownNamespaces = []string{v1.LabelNamespaceSuffixKubelet, v1.LabelNamespaceSuffixNode}
)

// isOwnLabel reports whether a node of a cluster may give itself the label.
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
