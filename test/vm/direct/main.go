// Direct calls the runtime of a machine as an agent does that starts pods, but without one, and prints
// how many seconds that took. Pods of an earlier call, which a reboot has ended, are stopped before
// they start again, as an agent must, too; then all pods of the runtime are removed:
//
//	direct SOCKET PODS IMAGE CALLERS
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// timeout limits the time of all calls.
const timeout = 20 * time.Minute

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "direct:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 4 {
		return errors.New("usage: direct SOCKET PODS IMAGE CALLERS")
	}
	pods, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	callers, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	conn, err := grpc.NewClient("unix://"+args[0], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cri := criapi.NewRuntimeServiceClient(conn)
	old, err := sandboxes(ctx, cri)
	if err != nil {
		return err
	}
	began := time.Now()
	names := make(chan string, pods) // full from the start
	for n := range pods {
		names <- "direct" + strconv.Itoa(n)
	}
	close(names)
	var all sync.WaitGroup
	failed := make([]error, callers)
	for i := range callers {
		all.Go(func() {
			for name := range names {
				failed[i] = errors.Join(failed[i], start(ctx, cri, name, args[2], old[name]))
			}
		})
	}
	all.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	fmt.Printf("%.2f\n", time.Since(began).Seconds())
	if len(old) == 0 {
		return nil
	}
	return remove(ctx, cri)
}

// sandboxes returns the IDs of all sandboxes by the names of their pods.
func sandboxes(ctx context.Context, cri criapi.RuntimeServiceClient) (map[string]string, error) {
	list, err := cri.ListPodSandbox(ctx, &criapi.ListPodSandboxRequest{})
	ids := map[string]string{}
	for _, s := range list.GetItems() {
		ids[s.GetMetadata().GetName()] = s.GetId()
	}
	return ids, err
}

// remove ends all pods of the runtime.
func remove(ctx context.Context, cri criapi.RuntimeServiceClient) error {
	list, err := cri.ListPodSandbox(ctx, &criapi.ListPodSandboxRequest{})
	if err != nil {
		return err
	}
	for _, s := range list.GetItems() {
		_, err := cri.StopPodSandbox(ctx, &criapi.StopPodSandboxRequest{PodSandboxId: s.GetId()})
		if err == nil {
			_, err = cri.RemovePodSandbox(ctx, &criapi.RemovePodSandboxRequest{PodSandboxId: s.GetId()})
		}
		if err != nil {
			return fmt.Errorf("remove %s: %w", s.GetMetadata().GetName(), err)
		}
	}
	return nil
}

// start creates and starts a pod with one container. Its old sandbox, if there is one, is stopped
// before.
func start(ctx context.Context, cri criapi.RuntimeServiceClient, name, image, old string) error {
	attempt := uint32(0)
	if old != "" {
		attempt = 1
		if _, err := cri.StopPodSandbox(ctx, &criapi.StopPodSandboxRequest{PodSandboxId: old}); err != nil {
			return fmt.Errorf("pod %s: %w", name, err)
		}
	}
	logs := filepath.Join("/var/log/pods", "default_"+name+"_"+name)
	if err := os.MkdirAll(filepath.Join(logs, "main"), 0o755); err != nil {
		return err
	}
	config := &criapi.PodSandboxConfig{
		Metadata:     &criapi.PodSandboxMetadata{Name: name, Namespace: "default", Uid: name, Attempt: attempt},
		Hostname:     name,
		LogDirectory: logs,
		Linux: &criapi.LinuxPodSandboxConfig{
			CgroupParent:    "direct-" + name + ".slice",
			SecurityContext: &criapi.LinuxSandboxSecurityContext{},
		},
	}
	sandbox, err := cri.RunPodSandbox(ctx, &criapi.RunPodSandboxRequest{Config: config})
	if err != nil {
		return fmt.Errorf("pod %s: %w", name, err)
	}
	created, err := cri.CreateContainer(ctx, &criapi.CreateContainerRequest{
		PodSandboxId: sandbox.GetPodSandboxId(), SandboxConfig: config,
		Config: &criapi.ContainerConfig{
			Metadata: &criapi.ContainerMetadata{Name: "main", Attempt: attempt}, Image: &criapi.ImageSpec{Image: image}, Args: []string{"sleep"},
			LogPath: fmt.Sprintf("main/%d.log", attempt), Linux: &criapi.LinuxContainerConfig{},
		},
	})
	if err != nil {
		return fmt.Errorf("container of pod %s: %w", name, err)
	}
	_, err = cri.StartContainer(ctx, &criapi.StartContainerRequest{ContainerId: created.GetContainerId()})
	return err
}
