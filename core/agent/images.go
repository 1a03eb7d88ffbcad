package agent

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/image"
	"github.com/wardlet/wardlet/core/image/credential"
	"github.com/wardlet/wardlet/core/image/unused"
	"github.com/wardlet/wardlet/core/pod"
)

// newPuller returns the puller of images for pods.
func (n *Node) newPuller() *image.Puller {
	cfg := &n.cfg.Runtime
	credentials := &credential.Pods{Secret: n.objects.Secret, Node: credential.New(credential.Config{
		RegistryConfig: cfg.RegistryConfig, ProviderConfig: cfg.CredentialProviderConfig, ProviderDir: cfg.CredentialProviderBinDir, Log: n.log, Now: time.Now,
	})}
	return image.New(image.Config{
		Runtime:     n.runtime,
		Credentials: credentials,
		Records:     n.state.PulledImages(), Owner: func(p *v1.Pod) string { return n.meters.Tenants.Of(p.Namespace) },
		Parallel: cfg.ParallelPulls, ProgressTimeout: cfg.PullProgressTimeout, OfflineFallback: cfg.OfflinePull == config.OfflineFallback, Prepull: cfg.Prepull,
		Offline: func() bool { return n.member != nil && n.member.Offline(n.objects.Silent()) },
		Events:  n.recorder, Log: n.log, Now: time.Now,
	})
}

// newUnusedImages returns what removes images that nothing needs.
func (n *Node) newUnusedImages() *unused.Collector {
	cfg := &n.cfg.Runtime
	return unused.New(unused.Config{
		High: cfg.ImageGCHighThresholdPercent, Low: cfg.ImageGCLowThresholdPercent, MinAge: cfg.ImageMinimumGCAge, MaxAge: cfg.ImageMaximumGCAge,
		Runtime: n.runtime, Wanted: n.wantedImages, NodeEvent: n.nodeWarning, Removed: n.meters.Evictions.ImageRemoved, Log: n.log, Now: time.Now,
	})
}

// wantedImages returns the names of the images of pods that have not ended, and of those that are
// pulled before a pod needs them: the network may be away when a pod needs its image again.
func (n *Node) wantedImages() []string {
	names := slices.Clone(n.cfg.Runtime.Prepull)
	for _, p := range n.podSpecs() {
		if n.workers.KnownTerminated(p.UID) {
			continue
		}
		for c := range pod.Containers(p) {
			names = append(names, c.Image)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// explainPulls adds to each container that waits for an image the time since when it waits. The CRI
// does not report the progress of a pull. Only the growth of the image file system is known, to
// which other pulls contribute, too.
func explainPulls(st *v1.PodStatus, pulls []image.Pull, now time.Time) {
	for _, pull := range pulls {
		for _, list := range []*[]v1.ContainerStatus{&st.InitContainerStatuses, &st.ContainerStatuses, &st.EphemeralContainerStatuses} {
			i := slices.IndexFunc(*list, func(c v1.ContainerStatus) bool { return c.Name == pull.Container })
			if i < 0 {
				continue
			}
			w := (*list)[i].State.Waiting
			if w == nil || w.Message != "" || w.Reason != reasonCreating && w.Reason != reasonInitializing {
				continue
			}
			*list = slices.Clone(*list) // the status is shared
			(*list)[i].State.Waiting = &v1.ContainerStateWaiting{Reason: w.Reason, Message: pullMessage(&pull, now)}
		}
	}
}

func pullMessage(pull *image.Pull, now time.Time) string {
	if pull.Began.IsZero() {
		return fmt.Sprintf("waiting for %s for its turn to pull image %q", now.Sub(pull.Since).Round(time.Second), pull.Image)
	}
	return fmt.Sprintf("pulling image %q for %s; the image file system grew by %d MiB meanwhile",
		pull.Image, now.Sub(pull.Began).Round(time.Second), pull.Grown>>20)
}
