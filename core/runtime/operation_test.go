package runtime

import (
	"slices"
	"sync"
	"testing"
	"time"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/wardlet/wardlet/test/fakecri"
)

func TestOperationsAreCalledAsAKubeletCallsThem(t *testing.T) {
	t.Parallel()
	for method, want := range map[string]string{
		runtimeapi.RuntimeService_Version_FullMethodName:                   "version",
		runtimeapi.RuntimeService_Status_FullMethodName:                    "status",
		runtimeapi.RuntimeService_RunPodSandbox_FullMethodName:             "run_podsandbox",
		runtimeapi.RuntimeService_StopPodSandbox_FullMethodName:            "stop_podsandbox",
		runtimeapi.RuntimeService_RemovePodSandbox_FullMethodName:          "remove_podsandbox",
		runtimeapi.RuntimeService_PodSandboxStatus_FullMethodName:          "podsandbox_status",
		runtimeapi.RuntimeService_ListPodSandbox_FullMethodName:            "list_podsandbox",
		runtimeapi.RuntimeService_CreateContainer_FullMethodName:           "create_container",
		runtimeapi.RuntimeService_StartContainer_FullMethodName:            "start_container",
		runtimeapi.RuntimeService_StopContainer_FullMethodName:             "stop_container",
		runtimeapi.RuntimeService_RemoveContainer_FullMethodName:           "remove_container",
		runtimeapi.RuntimeService_ListContainers_FullMethodName:            "list_containers",
		runtimeapi.RuntimeService_ContainerStatus_FullMethodName:           "container_status",
		runtimeapi.RuntimeService_UpdateContainerResources_FullMethodName:  "update_container",
		runtimeapi.RuntimeService_UpdatePodSandboxResources_FullMethodName: "update_podsandbox_resources",
		runtimeapi.RuntimeService_ReopenContainerLog_FullMethodName:        "reopen_container_log",
		runtimeapi.RuntimeService_ExecSync_FullMethodName:                  "exec_sync",
		runtimeapi.RuntimeService_ListPodSandboxStats_FullMethodName:       "list_podsandbox_stats",
		runtimeapi.ImageService_ListImages_FullMethodName:                  "list_images",
		runtimeapi.ImageService_ImageStatus_FullMethodName:                 "image_status",
		runtimeapi.ImageService_PullImage_FullMethodName:                   "pull_image",
		runtimeapi.ImageService_RemoveImage_FullMethodName:                 "remove_image",
		runtimeapi.ImageService_ImageFsInfo_FullMethodName:                 "image_fs_info",
	} {
		if got := operation(method); got != want {
			t.Errorf("%s is %q, want %q", method, got, want)
		}
	}
}

// calls are what an observer was told.
type calls struct {
	mu   sync.Mutex
	told []string
}

func (c *calls) Called(operation string, took time.Duration, failed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if took <= 0 {
		operation += " in no time"
	}
	if failed {
		operation += " failed"
	}
	c.told = append(c.told, operation)
}

func TestAnObserverIsToldOfEveryCall(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ endpoint, want string }{
		"that is answered":                 {fakecri.Start(t).Endpoint(), "version"},
		"to a runtime that does not exist": {"unix:///nowhere/x.sock", "version failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := &calls{}
			client, err := Dial(test.endpoint, time.Minute, WithObserver(told))
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			_, _ = client.Version(t.Context()) // what comes of it is what the observer says
			if want := []string{test.want}; !slices.Equal(told.told, want) {
				t.Errorf("told of %q, want %q", told.told, want)
			}
		})
	}
}
