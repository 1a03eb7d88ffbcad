package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// nodeName is the node's name on all sides. A kubelet looks it up at every admission, and localhost
// is resolved at once.
const nodeName = "localhost"

// images exist in the runtime, and the policies allow them. A change of the image replaces a pod's
// container; no other change does.
var images = []string{"registry.example/web:1", "registry.example/web:2"}

// grace is a pod's grace period in seconds; its container exits at once.
const grace = 10

// manifest is the manifest of one pod.
type manifest struct {
	name string
	// uid is fixed if a change must be an update; otherwise it is derived from the manifest.
	uid string
	// version selects the container's image.
	version int
}

// running returns the name of the pod that runs.
func (m manifest) running() string { return m.name + "-" + nodeName }

func (m manifest) text() []byte {
	uid := ""
	if m.uid != "" {
		uid = "\n  uid: " + m.uid
	}
	return fmt.Appendf(nil, `apiVersion: v1
kind: Pod
metadata:
  name: %s
  namespace: default%s
  labels:
    app: bench
spec:
  hostNetwork: true
  terminationGracePeriodSeconds: %d
  containers:
  - name: main
    image: %s
    imagePullPolicy: IfNotPresent
    args: [sleep]
`, m.name, uid, grace, images[m.version])
}

// crowd returns n manifests.
func crowd(n int) (all []manifest) {
	for i := range n {
		all = append(all, manifest{name: "burst-" + strconv.Itoa(i)})
	}
	return all
}

func running(all []manifest) (names []string) {
	for _, m := range all {
		names = append(names, m.running())
	}
	return names
}

// manifests is a directory of manifests, and another in which they are written first.
type manifests struct{ dir, aside string }

func makeManifests(parent string) (manifests, error) {
	m := manifests{filepath.Join(parent, "manifests"), filepath.Join(parent, "aside")}
	for _, dir := range []string{m.dir, m.aside} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return manifests{}, err
		}
	}
	return m, nil
}

func (m manifests) path(of manifest) string { return filepath.Join(m.dir, of.name+".yaml") }

// drop writes manifests and moves them into the directory; began is when it moves the first.
func (m manifests) drop(all ...manifest) (began time.Time, err error) {
	for _, one := range all {
		if err := os.WriteFile(filepath.Join(m.aside, one.name), one.text(), 0o600); err != nil {
			return time.Time{}, err
		}
	}
	began = time.Now()
	for _, one := range all {
		if err := os.Rename(filepath.Join(m.aside, one.name), m.path(one)); err != nil {
			return time.Time{}, err
		}
	}
	return began, nil
}

// remove removes manifests; began is when it removes the first.
func (m manifests) remove(all ...manifest) (began time.Time, err error) {
	began = time.Now()
	for _, one := range all {
		if err := os.Remove(m.path(one)); err != nil {
			return time.Time{}, err
		}
	}
	return began, nil
}
