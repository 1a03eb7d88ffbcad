package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// pause returns the image of all pods.
func (b *bench) pause() (string, error) {
	text, err := os.ReadFile(filepath.Join(b.root, "build", "conformance", "img", "pause.ref"))
	return strings.TrimSpace(string(text)), err
}

// floor measures the cost of a pod if the runtime is called directly, without waiting.
func (b *bench) floor(ctx context.Context) error {
	image, err := b.pause()
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient("unix://"+b.i.Env["CRI_SOCK"], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	cri := criapi.NewRuntimeServiceClient(conn)
	var all, again, initials []float64
	for n := range b.starts {
		took, err := b.direct(ctx, cri, image, strconv.Itoa(n))
		if err != nil {
			return err
		}
		all, again, initials = append(all, float64(took.start)), append(again, float64(took.again)), append(initials, float64(took.initial))
		if err := wait(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
	b.measured.add(starting, direct, median(all))
	b.measured.add(restarts, direct, median(again))
	b.measured.add(initial, direct, median(initials))
	rounded := func(all []float64) time.Duration { return time.Duration(median(all)).Round(time.Millisecond) }
	b.say("where the runtime is called directly, a pod costs %s, a restart %s, an init container %s", rounded(all), rounded(again), rounded(initials))
	return b.step()
}

// times are the durations of calls to the runtime: start until a pod runs, again to stop its
// container and start another, and initial to create a container that exits at once and see that it
// did.
type times struct{ start, again, initial time.Duration }

// direct creates, starts and removes one pod.
func (b *bench) direct(ctx context.Context, cri criapi.RuntimeServiceClient, image, name string) (took times, err error) {
	logs := filepath.Join(b.i.Env["POD_LOGS"], "floor_"+name)
	err = os.MkdirAll(filepath.Join(logs, "main"), 0o755)
	if err := errors.Join(err, os.WriteFile(filepath.Join(logs, "hosts"), []byte("127.0.0.1 localhost\n"), 0o600)); err != nil {
		return took, err
	}
	config := &criapi.PodSandboxConfig{
		Metadata:     &criapi.PodSandboxMetadata{Name: name, Namespace: direct, Uid: direct + name},
		Hostname:     direct,
		LogDirectory: logs,
		Linux: &criapi.LinuxPodSandboxConfig{
			CgroupParent:    filepath.Join(b.i.Env["CGROUP_ROOT"], direct),
			SecurityContext: &criapi.LinuxSandboxSecurityContext{},
		},
	}
	began := time.Now()
	sandbox, err := cri.RunPodSandbox(ctx, &criapi.RunPodSandboxRequest{Config: config})
	if err != nil {
		return took, err
	}
	p := &directPod{cri, sandbox.GetPodSandboxId(), config}
	id, err := p.begin(ctx, image, 0)
	if err != nil {
		return took, err
	}
	took.start, began = time.Since(began), time.Now()
	if _, err := cri.StopContainer(ctx, &criapi.StopContainerRequest{ContainerId: id, Timeout: 1}); err != nil {
		return took, err
	}
	if _, err := p.begin(ctx, image, 1); err != nil {
		return took, err
	}
	took.again, began = time.Since(began), time.Now()
	for n := range inits { // one after the other: the runtime removes one while it creates the next
		if id, err = p.begin(ctx, busybox, uint32(2+n), "true"); err != nil {
			return took, err
		}
		if err := p.ended(ctx, id); err != nil {
			return took, err
		}
	}
	took.initial = time.Since(began) / inits
	if _, err := cri.StopPodSandbox(ctx, &criapi.StopPodSandboxRequest{PodSandboxId: p.id}); err != nil {
		return took, err
	}
	if _, err := cri.RemovePodSandbox(ctx, &criapi.RemovePodSandboxRequest{PodSandboxId: p.id}); err != nil {
		return took, fmt.Errorf("remove the pod: %w", err)
	}
	return took, nil
}

// The paths that a kubelet masks or makes read-only in a container: each is a mount. A runtime that
// gets no such paths makes no such mounts.
var (
	maskedPaths = []string{
		"/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
		"/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware", "/sys/devices/virtual/powercap",
	}
	readOnlyPaths = []string{"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"}
)

// directPod is a pod made by calls to the runtime.
type directPod struct {
	cri    criapi.RuntimeServiceClient
	id     string
	config *criapi.PodSandboxConfig
}

// begin creates and starts a container with a kubelet's mounts, limits and namespaces.
func (p *directPod) begin(ctx context.Context, image string, attempt uint32, command ...string) (id string, err error) {
	termination := filepath.Join(p.config.LogDirectory, "termination-"+strconv.FormatUint(uint64(attempt), 10))
	if err := os.WriteFile(termination, nil, 0o600); err != nil {
		return "", err
	}
	made, err := p.cri.CreateContainer(ctx, &criapi.CreateContainerRequest{
		PodSandboxId: p.id, SandboxConfig: p.config, Config: &criapi.ContainerConfig{
			Metadata: &criapi.ContainerMetadata{Name: "main", Attempt: attempt},
			Image:    &criapi.ImageSpec{Image: image},
			Command:  command,
			LogPath:  fmt.Sprintf("main/%d.log", attempt),
			Mounts: []*criapi.Mount{
				{HostPath: filepath.Join(p.config.LogDirectory, "hosts"), ContainerPath: "/etc/hosts"},
				{HostPath: termination, ContainerPath: "/dev/termination-log"},
			},
			Labels: map[string]string{"io.kubernetes.container.name": "main", "io.kubernetes.pod.uid": p.config.Metadata.Uid},
			Linux: &criapi.LinuxContainerConfig{
				Resources: &criapi.LinuxContainerResources{CpuPeriod: 100_000, CpuShares: 2, OomScoreAdj: 1000},
				SecurityContext: &criapi.LinuxContainerSecurityContext{
					NamespaceOptions: &criapi.NamespaceOption{Pid: criapi.NamespaceMode_CONTAINER},
					MaskedPaths:      maskedPaths, ReadonlyPaths: readOnlyPaths,
				},
			},
		},
	})
	if err != nil {
		return "", err
	}
	_, err = p.cri.StartContainer(ctx, &criapi.StartContainerRequest{ContainerId: made.GetContainerId()})
	return made.GetContainerId(), err
}

// ended waits until a container has exited.
func (p *directPod) ended(ctx context.Context, id string) error {
	for {
		answer, err := p.cri.ContainerStatus(ctx, &criapi.ContainerStatusRequest{ContainerId: id})
		if err != nil || answer.GetStatus().GetState() == criapi.ContainerState_CONTAINER_EXITED {
			return err
		}
		if err := wait(ctx, 2*time.Millisecond); err != nil {
			return err
		}
	}
}
