package main

import (
	"fmt"
	"strconv"
	"strings"
)

// shape is a sort of pod.
type shape struct {
	name string
	// count is how many of them there are.
	count int
	// steady ones are never disturbed themselves: whatever becomes of the agent and of containerd, their containers go on.
	steady bool
	// ends: its containers end by themselves, or must not come back after their end. once: they run once at most.
	ends, once bool
	// containers are the names of its containers.
	containers []string
	// spec is the pod's, with $IMAGE for the image.
	spec string
}

const (
	hostSleep = `  hostNetwork: true
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: $IMAGE, args: [sleep]}
`
	ownNetwork = `  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: $IMAGE, args: [serve]}
`
	// It does not end on SIGTERM, and takes its grace period whole.
	stubborn = `  terminationGracePeriodSeconds: 2
  containers:
  - {name: main, image: $IMAGE, args: [serve, -ignore-term]}
`
	twoContainers = `  hostNetwork: true
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: $IMAGE
    args: [sleep]
    resources: {requests: {cpu: 1m, memory: 1Mi}}
    volumeMounts: [{name: shared, mountPath: /shared}, {name: disk, mountPath: /disk}]
  - name: beside
    image: $IMAGE
    args: [sleep]
    volumeMounts: [{name: shared, mountPath: /shared}]
  volumes:
  - {name: shared, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
  - {name: disk, emptyDir: {}}
`
	jobOnce = `  hostNetwork: true
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: $IMAGE, args: [exit, -code, "0", -after, 4s]}
`
	// serviceOnce does not end on its own.
	serviceOnce = `  hostNetwork: true
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: $IMAGE, args: [sleep]}
`
	jobAgain = `  hostNetwork: true
  restartPolicy: OnFailure
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: $IMAGE, args: [exit, -code, "1", -after, 3s]}
`
	jobUntilDone = `  hostNetwork: true
  restartPolicy: OnFailure
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: $IMAGE, args: [exit, -code, "0", -after, 6s]}
`
)

// shapes are the pods of a run: fifty.
func shapes() []*shape {
	one := []string{"main"}
	return []*shape{
		{name: "steady", count: 9, steady: true, containers: one, spec: hostSleep},
		{name: "stand", count: 4, steady: true, containers: one, spec: ownNetwork},
		{name: "web", count: 13, containers: one, spec: hostSleep},
		{name: "net", count: 6, containers: one, spec: ownNetwork},
		{name: "stubborn", count: 3, containers: one, spec: stubborn},
		{name: "pair", count: 5, containers: []string{"main", "beside"}, spec: twoContainers},
		{name: "once", count: 3, ends: true, once: true, containers: one, spec: jobOnce},
		{name: "single", count: 3, ends: true, once: true, containers: one, spec: serviceOnce},
		{name: "again", count: 2, ends: true, containers: one, spec: jobAgain},
		{name: "done", count: 2, ends: true, containers: one, spec: jobUntilDone},
	}
}

// fewer is a part of some pods, at least one of each shape.
func fewer(all []*shape, part int) []*shape {
	for _, s := range all {
		s.count = max(1, s.count/part)
	}
	return all
}

// labelVersion is the label that tells versions of a pod apart, in manifests and on sandboxes.
const labelVersion = "version"

// manifest is a pod of the shape as a file has it.
func (s *shape) manifest(pod string, version int, image string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata:
  name: %s
  labels: {team: chaos, %s: %q}
spec:
`, pod, labelVersion, strconv.Itoa(version)) + strings.ReplaceAll(s.spec, "$IMAGE", image)
}

// broken returns the manifest with a mistake in it.
func broken(good string) string { return strings.Replace(good, "containers:", "contaners:", 1) }
