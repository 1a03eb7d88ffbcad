package main

import (
	"context"
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

// pause is the image of all pods.
func (b *bench) pause() (string, error) {
	text, err := os.ReadFile(filepath.Join(b.root, "build", "conformance", "img", "pause.ref"))
	return strings.TrimSpace(string(text)), err
}

// floor measures what a pod costs where the runtime is called directly, and nothing waits.
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
	var all []float64
	for n := range b.starts {
		took, err := b.direct(ctx, cri, image, strconv.Itoa(n))
		if err != nil {
			return err
		}
		all = append(all, float64(took))
		if err := wait(ctx, 300*time.Millisecond); err != nil {
			return err
		}
	}
	b.measured.add(starting, direct, median(all))
	b.say("a pod costs %s where the runtime is called directly", time.Duration(median(all)).Round(time.Millisecond))
	return b.step()
}

// direct makes, starts and removes one pod, and returns how long it took until it ran.
func (b *bench) direct(ctx context.Context, cri criapi.RuntimeServiceClient, image, name string) (time.Duration, error) {
	logs := filepath.Join(b.i.Env["POD_LOGS"], "floor_"+name)
	if err := os.MkdirAll(filepath.Join(logs, "main"), 0o755); err != nil {
		return 0, err
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
		return 0, err
	}
	id := sandbox.GetPodSandboxId()
	container, err := cri.CreateContainer(ctx, &criapi.CreateContainerRequest{
		PodSandboxId: id, SandboxConfig: config, Config: &criapi.ContainerConfig{
			Metadata: &criapi.ContainerMetadata{Name: "main"},
			Image:    &criapi.ImageSpec{Image: image},
			LogPath:  "main/0.log",
			Linux:    &criapi.LinuxContainerConfig{},
		},
	})
	if err != nil {
		return 0, err
	}
	if _, err := cri.StartContainer(ctx, &criapi.StartContainerRequest{ContainerId: container.GetContainerId()}); err != nil {
		return 0, err
	}
	took := time.Since(began)
	if _, err := cri.StopPodSandbox(ctx, &criapi.StopPodSandboxRequest{PodSandboxId: id}); err != nil {
		return 0, err
	}
	if _, err := cri.RemovePodSandbox(ctx, &criapi.RemovePodSandboxRequest{PodSandboxId: id}); err != nil {
		return 0, fmt.Errorf("remove the pod: %w", err)
	}
	return took, nil
}
