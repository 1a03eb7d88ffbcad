package agent

import (
	"os"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/wardlet/wardlet/core/admission"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/node"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/pod"
)

// admitter returns the chain of handlers that decides whether a pod may start on this node. The
// first refusal is the result. The stored verdict of policy comes first, then a kubelet's checks in
// a kubelet's order, of which the last is that the machine does not shut down.
func (n *Node) admitter() admission.Chain {
	return admission.Chain{
		admission.StoredVerdict{},
		n.priorities(),
		n.pressure(),
		n.sysctls(),
		admission.Fit{Node: n.object.Node, Critical: criticality(n.cfg, n.node)},
		admission.AppArmor("/"),
		admission.NodeShutdown(func() bool { return n.shutdown.ShuttingDown() }),
	}
}

func (n *Node) priorities() admission.Handler {
	return admission.Priorities{Tenant: priorities(n.cfg.Tenants)}
}

func (n *Node) sysctls() admission.Handler {
	return admission.Sysctls(n.kernel(), n.cfg.Runtime.AllowedUnsafeSysctls)
}

// describeNode describes the node for pods and policies.
func (n *Node) describeNode() error {
	c := &n.cfg.Node
	reserved, _ := c.Reserved()
	machine, err := node.Machine(&node.Description{
		Name: n.node, Labels: c.LabelMap(), Taints: c.TaintList(), Extended: c.Extended(), MaxPods: c.MaxPods,
		Storage: n.cfg.Paths.PodRoot, Reserved: reserved,
	})
	if err != nil {
		return err
	}
	keepFree(&machine.Status, n.cfg.Eviction.Thresholds())
	n.object = node.NewObject(machine)
	return nil
}

// kernel returns the version of the kernel, nil if it is unknown.
func (n *Node) kernel() *version.Version {
	v, err := admission.KernelVersion()
	if err != nil {
		n.log.Warn("sysctls that are safe only from some kernel on are refused", "err", err)
		return nil
	}
	return v
}

// priorities returns a function that returns the tenant of a namespace and the highest priority of
// the tenant's pods.
func priorities(tenants []config.Tenant) func(namespace string) (string, int32, bool) {
	return func(namespace string) (string, int32, bool) {
		i := slices.IndexFunc(tenants, func(t config.Tenant) bool {
			return slices.ContainsFunc(t.Namespaces, func(pattern string) bool { return pod.MatchNamespace(pattern, namespace) })
		})
		if i < 0 {
			return "", 0, false
		}
		return tenants[i].Name, int32(tenants[i].MaxPriority), true // the configuration is checked
	}
}

// criticality returns the rule that decides which pods are critical on a node with that name.
// Static pods may be named as in their manifests.
func criticality(cfg *config.Config, nodeName string) pod.Criticality {
	c, tenants := &cfg.Node, priorities(cfg.Tenants)
	highest := func(namespace string) (int32, bool) {
		_, highest, ok := tenants(namespace)
		return highest, ok
	}
	return pod.Criticality{Static: c.StaticPodsAreCritical, Highest: highest, Named: func(p *v1.Pod) bool {
		own := p.Namespace + "/" + p.Name
		written, ok := strings.CutSuffix(own, "-"+strings.ToLower(nodeName))
		return slices.Contains(c.Critical, own) || ok && pod.IsStatic(p) && slices.Contains(c.Critical, written)
	}}
}

// begun reports whether an earlier agent started work on a pod. It checks for the pod's directory,
// which is the first thing made for a pod.
func (n *Node) begun(uid types.UID) bool {
	_, err := os.Stat(parts.Layout(n.cfg).PodDir(uid))
	return err == nil
}
