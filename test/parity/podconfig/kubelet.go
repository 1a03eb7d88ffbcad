package main

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/test/parity/kubelet"
)

// kubeletSide is a kubelet's pod config.
type kubeletSide struct {
	config *kubelet.PodConfig
	// pods is the content of the source; all of it is sent each time.
	pods []*v1.Pod
}

func newKubelet(pods []*v1.Pod) *kubeletSide {
	return &kubeletSide{kubelet.New("file", "http", pod.SourceAPI), append([]*v1.Pod(nil), pods...)}
}

func (k *kubeletSide) send(want kubetypes.PodOperation) ([]*v1.Pod, error) {
	k.config.Send(pod.SourceAPI, k.pods)
	u := <-k.config.Updates()
	if u.Op != want {
		return nil, fmt.Errorf("the kubelet said %v of %d pods, want %v", u.Op, len(u.Pods), want)
	}
	return u.Pods, nil
}

func (k *kubeletSide) begin() ([]*v1.Pod, error) { return k.send(kubetypes.ADD) }

func (k *kubeletSide) change(i int, p *v1.Pod) (*v1.Pod, error) {
	k.pods[i] = p
	pods, err := k.send(kubetypes.UPDATE)
	if err != nil || len(pods) != 1 {
		return nil, fmt.Errorf("%d pods changed: %w", len(pods), err)
	}
	return pods[0], nil
}
