//go:build e2e

package e2e

import (
	"errors"
	"flag"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/wardlet/wardlet/test/cluster/daemonsets"
	"github.com/wardlet/wardlet/test/harness"
)

var manifests = flag.String("manifests", "../cluster/testdata", "the directory of the manifests of DaemonSets; a copy of others may stand in for it")

// TestDaemonsets_asStaticPods: the pods of widely used DaemonSets and Deployments become ready
// without a cluster, with the ConfigMaps and Secrets of the node's directory. Each container has
// what its pod and these objects define.
func TestDaemonsets_asStaticPods(t *testing.T) {
	t.Parallel()
	sets, err := daemonsets.Read(*manifests)
	if err != nil {
		t.Fatal(err)
	}
	n := startNode(t)
	a := newAgent(t, n, "daemonsets")
	objects := a.withObjects(t)
	host := a.sharedDirectory(t)
	type static struct {
		set  *daemonsets.Set
		spec v1.PodSpec
	}
	pods, files := map[string]static{}, []string{}
	for _, set := range sets {
		made, err := set.StaticPods(host)
		if err != nil {
			t.Fatal(err)
		}
		text, err := set.Files()
		if err != nil {
			t.Fatal(err)
		}
		a.move(t, filepath.Join(objects, set.Name+".yaml"), text)
		for _, p := range made {
			text, err := yaml.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			pods[p.Name], files = static{set, p.Spec}, append(files, p.Name+".yaml")
			a.manifest(t, p.Name+".yaml", string(text))
		}
	}
	a.start(t)
	for name, p := range a.running(t, slices.Collect(maps.Keys(pods))...) {
		node := p.Spec.NodeName
		p.Spec = pods[name].spec // the agent does not show the values of variables
		p.Spec.NodeName = node
		err := pods[name].set.Check(&p, pods[name].set.Objects(p.Namespace), func(container string) (string, error) {
			return a.wardlet("logs", p.Namespace+"/"+p.Name, container)
		})
		if err != nil {
			t.Error(err)
		}
	}
	a.remove(t, files...)
	a.nothingLeft(t, n)
}

// sharedDirectory returns a directory that stands for the machine's root. It is a mount of its
// own with shared propagation, like the root of a node.
func (a *agent) sharedDirectory(t *testing.T) string {
	t.Helper()
	dir := a.Path("host")
	if err := daemonsets.MakeShared(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// This also unmounts what containers mounted there, and mounts that a failed test has left.
		below, err := harness.MountsBelow(a.Dir)
		if err != nil {
			t.Error(err)
		}
		for _, at := range slices.Backward(below) {
			if err := unix.Unmount(at, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) {
				t.Error(err)
			}
		}
	})
	return dir
}
