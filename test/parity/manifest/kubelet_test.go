package manifest

import (
	"fmt"
	_ "unsafe" // for go:linkname

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	internal "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/capabilities"
	_ "k8s.io/kubernetes/pkg/kubelet/config" // the functions below are its
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
)

//go:linkname tryDecodeSinglePod k8s.io/kubernetes/pkg/kubelet/config.tryDecodeSinglePod
func tryDecodeSinglePod(klog.Logger, []byte, func(klog.Logger, *internal.Pod) error) (parsed bool, p *v1.Pod, err error)

//go:linkname tryDecodePodList k8s.io/kubernetes/pkg/kubelet/config.tryDecodePodList
func tryDecodePodList(klog.Logger, []byte, func(klog.Logger, *internal.Pod) error) (parsed bool, list v1.PodList, err error)

//go:linkname applyDefaults k8s.io/kubernetes/pkg/kubelet/config.applyDefaults
func applyDefaults(logger klog.Logger, p *internal.Pod, source string, isFile bool, node types.NodeName) error

// A kubelet initializes its capabilities before it reads any source.
func init() { capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true}) }

// place is the origin of a manifest and the node that reads it. kind is api.KindFile or
// api.KindHTTP, and also the source's name.
type place struct{ kind, path, node string }

var (
	aFile = place{api.KindFile, "/manifests/web.yaml", "node-1"}
	aURL  = place{api.KindHTTP, "http://127.0.0.1/pods", "node-1"}
)

// kubelet returns the pods that a kubelet's source makes of a manifest. A file has one pod. An
// answer over HTTP is parsed as a list only if it cannot be parsed as a pod. kubelet adds the
// annotation config.source, as a kubelet's mux does.
func kubelet(text []byte, at place) ([]*v1.Pod, error) {
	defaults := func(logger klog.Logger, p *internal.Pod) error {
		return applyDefaults(logger, p, at.path, at.kind == api.KindFile, types.NodeName(at.node))
	}
	parsed, p, err := tryDecodeSinglePod(logr.Discard(), text, defaults)
	if parsed && err == nil {
		return marked([]*v1.Pod{p}, at), nil
	}
	if parsed || at.kind == api.KindFile {
		return nil, err
	}
	parsed, list, more := tryDecodePodList(logr.Discard(), text, defaults)
	if !parsed {
		return nil, fmt.Errorf("neither a pod: %w; nor a list: %w", err, more)
	}
	if more != nil {
		return nil, more
	}
	var pods []*v1.Pod
	for i := range list.Items {
		pods = append(pods, &list.Items[i])
	}
	return marked(pods, at), nil
}

func marked(pods []*v1.Pod, at place) []*v1.Pod {
	for _, p := range pods {
		p.Annotations[kubetypes.ConfigSourceAnnotationKey] = at.kind
	}
	return pods
}

// wardlet returns the pods and the refusals of core/pod. A document that only holds its file back
// counts as a refusal only if no refusal precedes it.
func wardlet(text []byte, at place) (pods []*v1.Pod, refused []*api.DocumentError) {
	for _, d := range manifest.Decode(text, manifest.DecodeFrom{Source: at.kind, Kind: at.kind, File: at.path, NodeName: at.node}) {
		switch {
		case d.Pod != nil:
			pods = append(pods, d.Pod)
		case d.ID != at.path+api.HoldSuffix:
			refused = append(refused, d.Err)
		case len(refused) == 0:
			refused = append(refused, d.Err)
		}
	}
	return pods, refused
}
