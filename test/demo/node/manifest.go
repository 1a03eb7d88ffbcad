package node

import (
	"fmt"
	"path/filepath"
)

// Drop writes the manifest NAME.yaml of a pod with one container of the image, as
// `kubectl run NAME --image=IMAGE --dry-run=client -o yaml` would.
func (n *Node) Drop(name, image string) error {
	return replace(filepath.Join(n.manifests(), name+".yaml"), fmt.Appendf(nil, `apiVersion: v1
kind: Pod
metadata:
  creationTimestamp: null
  labels:
    run: %[1]s
  name: %[1]s
spec:
  containers:
  - image: %[2]s
    name: %[1]s
    resources: {}
  dnsPolicy: ClusterFirst
  restartPolicy: Always
status: {}
`, name, image))
}
