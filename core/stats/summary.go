package stats

import (
	"context"

	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// Summary returns the statistics in the form of a kubelet's /stats/summary. With basic, it has only
// CPU, memory and swap. It returns an error if the node cannot be measured.
func (s *Stats) Summary(ctx context.Context, basic bool) (*statsapi.Summary, error) {
	read := s.Detailed
	if basic {
		read = s.Basic
	}
	r, err := read(ctx)
	if err != nil {
		return nil, err
	}
	return r.Summary()
}

// Top returns a summary of CPU, memory and swap with CPU usage per second. If nothing was measured in
// the last two minutes, that takes a second.
func (s *Stats) Top(ctx context.Context) (*statsapi.Summary, error) {
	r, err := s.Rated(ctx)
	if err != nil {
		return nil, err
	}
	return r.Summary()
}

// Summary returns a reading in the form of a kubelet's /stats/summary, or the error because of which
// the node is not measured.
func (r *Reading) Summary() (*statsapi.Summary, error) {
	if r.Failed != nil {
		return nil, r.Failed
	}
	out := &statsapi.Summary{Node: r.Node, Pods: []statsapi.PodStats{}}
	for i := range r.Pods {
		p := r.Pods[i].Stats
		p.Containers = []statsapi.ContainerStats{}
		for j := range r.Pods[i].Containers {
			p.Containers = append(p.Containers, r.Pods[i].Containers[j].Stats)
		}
		out.Pods = append(out.Pods, p)
	}
	return out, nil
}
