package daemonsets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Set is the content of one directory of manifests.
type Set struct {
	// Name is the name of the directory.
	Name string
	// Workloads are its DaemonSets and Deployments.
	Workloads []*Workload
	// Accounts are its service accounts. ConfigMaps and Secrets are the objects that its pods read.
	Accounts   []*v1.ServiceAccount
	ConfigMaps []*v1.ConfigMap
	Secrets    []*v1.Secret
	// others are the objects that no pod reads, in the order of the files.
	others []map[string]any
	// host is the directory that replaces the machine's own. seeds are the contents of the files
	// written into it, by path.
	host  string
	seeds map[string]string
}

// Workload is a DaemonSet or Deployment.
type Workload struct {
	DaemonSet  *appsv1.DaemonSet
	Deployment *appsv1.Deployment
}

// values fills the placeholders of manifests that are templates.
var values = strings.NewReplacer(
	"__PILLAR__DNS__DOMAIN__", "cluster.local",
	"__PILLAR__LOCAL__DNS__", "127.0.0.153",
	"__PILLAR__DNS__SERVER__", "10.96.0.10",
	"__EXTRA_PARAMS__\n", "",
	"__EXTRA_VOL_MNTS__\n", "",
	"__EXTRA_VOLS__\n", "",
	"__APISERVER_IP__", "10.96.0.1",
)

// Read reads the manifests of every directory below dir; the files of each are read in the order of their names.
func Read(dir string) ([]*Set, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.yaml"))
	if err != nil {
		return nil, err
	}
	var sets []*Set
	for _, file := range files {
		if name := filepath.Base(filepath.Dir(file)); len(sets) == 0 || sets[len(sets)-1].Name != name {
			sets = append(sets, &Set{Name: name, seeds: map[string]string{}})
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for document := range strings.SplitSeq("\n"+values.Replace(string(text)), "\n---") {
			if err := sets[len(sets)-1].add([]byte(document)); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("no manifest below %s", dir)
	}
	return sets, nil
}

// add reads one document.
func (s *Set) add(document []byte) error {
	text, err := yaml.YAMLToJSON(document)
	if err != nil {
		return err
	}
	if bytes.Equal(text, []byte("null")) {
		return nil
	}
	var meta metav1.TypeMeta
	if err := json.Unmarshal(text, &meta); err != nil {
		return err
	}
	switch meta.Kind {
	case "DaemonSet":
		w := &Workload{DaemonSet: &appsv1.DaemonSet{}}
		s.Workloads = append(s.Workloads, w)
		return json.Unmarshal(text, w.DaemonSet)
	case "Deployment":
		w := &Workload{Deployment: &appsv1.Deployment{}}
		s.Workloads = append(s.Workloads, w)
		return json.Unmarshal(text, w.Deployment)
	case "ServiceAccount":
		s.Accounts = append(s.Accounts, &v1.ServiceAccount{})
		return json.Unmarshal(text, s.Accounts[len(s.Accounts)-1])
	case "ConfigMap":
		s.ConfigMaps = append(s.ConfigMaps, &v1.ConfigMap{})
		return json.Unmarshal(text, s.ConfigMaps[len(s.ConfigMaps)-1])
	case "Secret":
		s.Secrets = append(s.Secrets, &v1.Secret{})
		return json.Unmarshal(text, s.Secrets[len(s.Secrets)-1])
	}
	var other map[string]any
	s.others = append(s.others, other)
	return json.Unmarshal(text, &s.others[len(s.others)-1])
}

// template returns the pods of a workload, and the namespace they are in.
func (w *Workload) template() (template *v1.PodTemplateSpec, namespace string) {
	if w.DaemonSet != nil {
		return &w.DaemonSet.Spec.Template, w.Namespace()
	}
	return &w.Deployment.Spec.Template, w.Namespace()
}

// Namespace returns the namespace of a workload and its pods.
func (w *Workload) Namespace() string {
	if w.DaemonSet != nil {
		return w.DaemonSet.Namespace
	}
	return w.Deployment.Namespace
}

// String returns kind and name in the form that kubectl accepts.
func (w *Workload) String() string {
	if w.DaemonSet != nil {
		return "daemonset/" + w.name()
	}
	return "deployment/" + w.name()
}

func (w *Workload) name() string {
	if w.DaemonSet != nil {
		return w.DaemonSet.Name
	}
	return w.Deployment.Name
}

// Selector returns the selector of a workload's pods, in the form that kubectl accepts.
func (w *Workload) Selector() string {
	if w.DaemonSet != nil {
		return metav1.FormatLabelSelector(w.DaemonSet.Spec.Selector)
	}
	return metav1.FormatLabelSelector(w.Deployment.Spec.Selector)
}

// Replicas returns how many pods a workload has on one node.
func (w *Workload) Replicas() int {
	if w.Deployment != nil && w.Deployment.Spec.Replicas != nil {
		return int(*w.Deployment.Spec.Replicas)
	}
	return 1
}

// NodeLabels returns the labels that a node must have, besides the one of its operating system.
func (s *Set) NodeLabels() map[string]string {
	labels := map[string]string{}
	for _, w := range s.Workloads {
		template, _ := w.template()
		maps.Copy(labels, template.Spec.NodeSelector)
	}
	delete(labels, v1.LabelOSStable)
	return labels
}

// List returns all objects of sets as one list for kubectl, namespaces first.
func List(sets []*Set) (string, error) {
	var first, rest []any
	for _, s := range sets {
		if len(s.Workloads) == 0 {
			return "", errors.New("no DaemonSet or Deployment in " + s.Name)
		}
		for _, other := range s.others {
			if other["kind"] == "Namespace" {
				first = append(first, other)
			} else {
				rest = append(rest, other)
			}
		}
		rest = add(rest, s.Accounts)
		rest = add(rest, s.ConfigMaps)
		rest = add(rest, s.Secrets)
		for _, w := range s.Workloads {
			if w.DaemonSet != nil {
				rest = append(rest, w.DaemonSet)
			} else {
				rest = append(rest, w.Deployment)
			}
		}
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": append(first, rest...)})
	return string(text), err
}

func add[T any](list []any, objects []T) []any {
	for _, o := range objects {
		list = append(list, o)
	}
	return list
}
