package privateruntime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	criapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Dial returns a connection to the CRI endpoint of a runtime, also one that is not up yet. The caller closes it.
func Dial(endpoint string) (*grpc.ClientConn, error) {
	connection, err := grpc.NewClient(endpoint,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			// A socket of this machine: trying again at once costs nothing, gRPC's second would be felt.
			Backoff:           backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.5, MaxDelay: 100 * time.Millisecond},
			MinConnectTimeout: time.Second,
		}))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", endpoint, err)
	}
	return connection, nil
}

// withConnection lends a connection to the runtime.
func (i instance) withConnection(use func(*grpc.ClientConn) error) (err error) {
	connection, err := Dial(i.endpoint())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	return use(connection)
}

// waitReady waits until the runtime says that it can run pods and give them addresses. ended tells of an early death.
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

// parallelRemovals bounds how many pods are taken down at once.
const parallelRemovals = 4

// removePods stops and removes every pod, so that CNI releases their addresses. One goroutine per slot, all waited for.
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
