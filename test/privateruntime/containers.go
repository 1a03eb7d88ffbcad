package privateruntime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// criNamespace is the containerd namespace of CRI; runc keeps its containers in a directory of this name.
const criNamespace = "k8s.io"

// containers returns the IDs of runc's containers, both of pods and of their containers.
func (i instance) containers() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(i.runcRoot(), criNamespace))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the runtime's containers: %w", err)
	}
	var ids []string
	for _, entry := range entries {
		ids = append(ids, entry.Name())
	}
	return ids, nil
}

// hasPods reports whether the runtime left anything that only CRI and CNI can remove in an orderly
// way.
func (i instance) hasPods() bool {
	ids, err := i.containers()
	caches, cacheErr := i.cacheFiles()
	namespaces, globErr := filepath.Glob(filepath.Join(i.daemonState(), "*", "netns", "*"))
	return err != nil || cacheErr != nil || globErr != nil || len(ids)+len(caches)+len(namespaces) > 0
}

// deleteContainers kills and deletes the containers that CRI did not remove. runc finds their
// processes by its own records.
func (i instance) deleteContainers(ctx context.Context) error {
	ids, err := i.containers()
	if err != nil || len(ids) == 0 {
		return err
	}
	runc, err := lookSystem("runc")
	if err != nil {
		return fmt.Errorf("delete the runtime's containers: %w; %s", err, advice)
	}
	var failed []error
	for _, id := range ids {
		command := exec.CommandContext(ctx, runc, "--root", filepath.Join(i.runcRoot(), criNamespace), "delete", "--force", id)
		if output, err := command.CombinedOutput(); err != nil {
			failed = append(failed, fmt.Errorf("delete container %s: %w: %s", id, err, bytes.TrimSpace(output)))
		}
	}
	return errors.Join(failed...)
}

// containerCgroups returns the directories of a container's cgroup, one per hierarchy, from runc's record of it.
func containerCgroups(runcRoot, id string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(runcRoot, criNamespace, id, "state.json"))
	if err != nil {
		return nil, fmt.Errorf("read runc's record of %s: %w", id, err)
	}
	var record struct {
		Paths map[string]string `json:"cgroup_paths"`
	}
	if err := json.Unmarshal(data, &record); err != nil {
		return nil, fmt.Errorf("read runc's record of %s: %w", id, err)
	}
	var paths []string
	for _, path := range record.Paths {
		if filepath.IsAbs(path) {
			paths = append(paths, filepath.Clean(path))
		}
	}
	return paths, nil
}

// Dial returns a connection to the CRI endpoint of a runtime, which may not be up yet. The caller
// closes it.
func Dial(endpoint string) (*grpc.ClientConn, error) {
	connection, err := grpc.NewClient(endpoint,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			// The socket is on this machine: a retry costs nothing, while gRPC's default of a
			// second would be noticeable.
			Backoff:           backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.5, MaxDelay: 100 * time.Millisecond},
			MinConnectTimeout: time.Second,
		}))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", endpoint, err)
	}
	return connection, nil
}

// withConnection calls use with a connection to the runtime, and closes it afterwards.
func (i instance) withConnection(use func(*grpc.ClientConn) error) (err error) {
	connection, err := Dial(i.endpoint())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	return use(connection)
}

// waitReady waits until the runtime reports that it can run pods and set their addresses. ended
// returns an error once containerd has exited.
func waitReady(ctx context.Context, connection *grpc.ClientConn, ended func() error) error {
	client := criapi.NewRuntimeServiceClient(connection)
	return waitUntil(ctx, func() error {
		if dead := ended(); dead != nil {
			return final{dead}
		}
		status, err := client.Status(ctx, &criapi.StatusRequest{})
		if err != nil {
			return fmt.Errorf("ask for the runtime's status: %w", err)
		}
		return unready(status.GetStatus())
	})
}

// unready names the first condition that does not hold yet.
func unready(status *criapi.RuntimeStatus) error {
	conditions := map[string]*criapi.RuntimeCondition{}
	for _, condition := range status.GetConditions() {
		conditions[condition.GetType()] = condition
	}
	for _, wanted := range []string{criapi.RuntimeReady, criapi.NetworkReady} {
		if condition := conditions[wanted]; !condition.GetStatus() {
			return fmt.Errorf("%s is false: %s %s", wanted, condition.GetReason(), condition.GetMessage())
		}
	}
	return nil
}

// parallelRemovals limits how many pods are removed at once.
const parallelRemovals = 4

// removePods stops and removes every pod, so that CNI releases their addresses. It uses one
// goroutine per slot and waits for all of them.
func removePods(ctx context.Context, connection *grpc.ClientConn) error {
	client := criapi.NewRuntimeServiceClient(connection)
	list, err := client.ListPodSandbox(ctx, &criapi.ListPodSandboxRequest{}, grpc.WaitForReady(true))
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	pods := make(chan *criapi.PodSandbox, len(list.GetItems()))
	for _, pod := range list.GetItems() {
		pods <- pod
	}
	close(pods)
	failed := make(chan error, len(list.GetItems()))
	var workers sync.WaitGroup
	for range parallelRemovals {
		workers.Go(func() {
			for pod := range pods {
				failed <- removePod(ctx, client, pod)
			}
		})
	}
	workers.Wait()
	close(failed)
	var all []error
	for err := range failed {
		all = append(all, err)
	}
	return errors.Join(all...)
}

func removePod(ctx context.Context, client criapi.RuntimeServiceClient, pod *criapi.PodSandbox) error {
	if _, err := client.StopPodSandbox(ctx, &criapi.StopPodSandboxRequest{PodSandboxId: pod.GetId()}); err != nil {
		return fmt.Errorf("stop pod %s: %w", pod.GetMetadata().GetName(), err)
	}
	if _, err := client.RemovePodSandbox(ctx, &criapi.RemovePodSandboxRequest{PodSandboxId: pod.GetId()}); err != nil {
		return fmt.Errorf("remove pod %s: %w", pod.GetMetadata().GetName(), err)
	}
	return nil
}
