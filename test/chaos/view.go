package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// state is the runtime's state of a sandbox or a container.
type state int

const (
	// unclear is neither: a container that was made but not started, or one with an unknown state.
	unclear state = iota
	alive
	dead
)

// unit is a sandbox or a container as the runtime lists it.
type unit struct {
	id      string
	sandbox string
	uid     string
	// pod is the pod's name without the node's name. name is the container's name, empty for a
	// sandbox.
	pod, name string
	// version is the version of the manifest that the pod was made from, 0 if it is not known.
	version int
	state   state
	created time.Time
}

func (u *unit) String() string {
	what := "sandbox"
	if u.name != "" {
		what = "container " + u.name
	}
	return fmt.Sprintf("%s %.12s of pod %s, version %d, uid %s", what, u.id, u.pod, u.version, u.uid)
}

// view is what the runtime listed at about one moment: first the sandboxes, then the containers.
type view struct {
	at         time.Time
	sandboxes  []unit
	containers []unit
}

// look lists what the runtime has. It returns an error if that takes longer than most.
func look(ctx context.Context, cri criapi.RuntimeServiceClient, most time.Duration) (view, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	v := view{at: time.Now()}
	sandboxes, err := cri.ListPodSandbox(ctx, &criapi.ListPodSandboxRequest{})
	if err != nil {
		return v, fmt.Errorf("list sandboxes: %w", err)
	}
	versions := map[string]int{}
	for _, s := range sandboxes.GetItems() {
		u := unitOf(s.GetLabels(), s.GetId(), s.GetCreatedAt())
		u.sandbox = u.id
		u.version, _ = strconv.Atoi(s.GetLabels()[labelVersion])
		versions[u.id] = u.version
		u.state = dead
		if s.GetState() == criapi.PodSandboxState_SANDBOX_READY {
			u.state = alive
		}
		v.sandboxes = append(v.sandboxes, u)
	}
	containers, err := cri.ListContainers(ctx, &criapi.ListContainersRequest{})
	if err != nil {
		return v, fmt.Errorf("list containers: %w", err)
	}
	for _, c := range containers.GetContainers() {
		u := unitOf(c.GetLabels(), c.GetId(), c.GetCreatedAt())
		u.sandbox, u.name = c.GetPodSandboxId(), c.GetLabels()[pod.LabelContainerName]
		u.version = versions[u.sandbox]
		switch c.GetState() {
		case criapi.ContainerState_CONTAINER_RUNNING:
			u.state = alive
		case criapi.ContainerState_CONTAINER_EXITED:
			u.state = dead
		}
		v.containers = append(v.containers, u)
	}
	return v, nil
}

func unitOf(labels map[string]string, id string, created int64) unit {
	return unit{
		id: id, uid: labels[pod.LabelPodUID], created: time.Unix(0, created),
		pod: strings.TrimSuffix(labels[pod.LabelPodName], "-"+nodeName),
	}
}
