package agent

import (
	"context"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/mux"
	"github.com/wardlet/wardlet/core/object"
	"github.com/wardlet/wardlet/core/parts"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/policy"
	"github.com/wardlet/wardlet/core/source/file"
	"github.com/wardlet/wardlet/core/worker"
)

// wireObjects makes the client of the API server, which is nil for an agent that is no node of a
// cluster, and the plane that holds the objects named by pods.
func (n *Node) wireObjects(lookupEnv func(string) (string, bool)) error {
	if err := parts.TakeClientCertificate(n.cfg, time.Now()); err != nil {
		return err
	}
	var err error
	if n.apiClient, err = parts.APIClient(n.cfg, n.log); err != nil {
		return err
	}
	if n.apiClient != nil {
		if err := n.leaveFormerCluster(); err != nil {
			return err
		}
	}
	var key *object.Key
	if n.apiClient != nil || n.cfg.Objects.Dir != "" {
		if key, err = parts.ObjectKey(n.cfg, lookupEnv).Load(); err != nil {
			n.log.Error("Secrets are not kept on the disk, and pods whose policies see Secrets wait, until the agent starts with a key", "err", err)
		}
	}
	n.objects = object.New(object.Config{
		Client: n.apiClient, Dir: n.cfg.Objects.Dir, Disk: n.state.Objects(), Key: key,
		Changed: func(uid types.UID) { n.workers.Wake(uid) }, Logger: n.log, Now: time.Now,
	})
	return nil
}

// objectStages returns the stages that serve objects and read the directory of objects, if there is
// one.
func (n *Node) objectStages() []Stage {
	stages := []Stage{{"objects", endless(n.objects.Run)}} // workers may still need objects while they stop
	if n.apiClient != nil {
		stages = append(stages, Stage{"certificate authorities", endless(n.followAuthorities)})
	}
	if n.cfg.Objects.Dir != "" {
		source := file.New(n.objectDirectory())
		stages = append(stages, Stage{"directory of objects", source.Run})
	}
	return stages
}

// objectPlace is the name under which the directory's content is stored; no source can have this
// name.
const objectPlace = "_objects"

// objectDirectory returns the configuration for reading the directory of objects.
func (n *Node) objectDirectory() file.Config {
	c := parts.ObjectDirectory(n.cfg, n.objects.Directory(), n.log)
	c.Place = n.state.Place(objectPlace)
	var last string
	c.Ignored = func(i *api.Ignored) {
		if text := i.String(); text != last {
			last = text
			n.log.Warn("the directory of objects holds what is not read", "ignored", text)
		}
	}
	return c
}

// handler returns the runtime's name for the class of a pod. For pods of the API server, the API
// server defines the class; for other pods, agent.toml or the directory of objects does.
func (n *Node) handler(ctx context.Context, p *v1.Pod) (string, error) {
	class := *p.Spec.RuntimeClassName
	if handler, ok := n.cfg.Runtime.HandlerOf(class); ok && pod.IsStatic(p) {
		return handler, nil
	}
	object, err := n.objects.RuntimeClass(ctx, p, class)
	switch {
	case apierrors.IsNotFound(err) && pod.IsStatic(p):
		return "", fmt.Errorf("agent.toml has no class %[1]q, and the directory of objects no RuntimeClass; "+
			"add [[runtime.handler]] with class = %[1]q and restart the agent, or take spec.runtimeClassName out of the manifest: %[2]w", class, err)
	case apierrors.IsNotFound(err):
		return "", fmt.Errorf("the API server has no RuntimeClass %q; create it, and the pod starts by itself", class)
	case err != nil:
		return "", err
	}
	return object.Handler, nil
}

// classTimeout limits the wait for the runtime class that says which features a pod's runtime has.
const classTimeout = time.Second

// recursiveReadOnly reports whether the runtime of a pod can make mounts read-only recursively.
func (n *Node) recursiveReadOnly(p *v1.Pod) bool {
	handler := ""
	if class := p.Spec.RuntimeClassName; class != nil && *class != "" {
		ctx, cancel := context.WithTimeout(context.Background(), classTimeout)
		defer cancel()
		var err error
		if handler, err = n.handler(ctx, p); err != nil {
			return false
		}
	}
	return slices.ContainsFunc(n.object.Node().Status.RuntimeHandlers, func(h v1.NodeRuntimeHandler) bool {
		return h.Name == handler && h.Features.RecursiveReadOnlyMounts != nil && *h.Features.RecursiveReadOnlyMounts
	})
}

// objectVolumes watches the objects that a pod names from the moment its worker begins. A pod that
// runs when the agent starts needs most of them only for its next container, and the server may be
// unreachable by then.
type objectVolumes struct {
	worker.Volumes
	objects *object.Objects
	// mayStart returns an error while the pod must not start, nil for pods that always may.
	mayStart func(p *v1.Pod) error
}

// Setup implements worker.Volumes.
func (v objectVolumes) Setup(ctx context.Context, p *v1.Pod) error {
	if isOfCluster(p) {
		v.objects.Watch(p)
		if err := v.mayStart(p); err != nil {
			return err
		}
	}
	return v.Volumes.Setup(ctx, p)
}

// workerRemoved releases the resources of a pod whose worker was removed.
func (n *Node) workerRemoved(uid types.UID) {
	n.adoption.Ended(uid)
	n.objects.Release(uid)
}

// objectList describes the objects that pods name.
func (n *Node) objectList() []api.Object {
	list := n.objects.List(func(uid types.UID) string {
		if p := n.mux.PodOf(uid); p != nil {
			return p.Namespace + "/" + p.Name
		}
		return ""
	})
	slices.SortFunc(list, api.CompareObjects)
	return list
}

// references tells policies about the objects that pods name. The mux is made later.
type references struct {
	*object.Objects

	mux func() *mux.Mux
}

// Refused implements policy.References.
func (r references) Refused() []policy.RefusedPod {
	refused := r.mux().Refused()
	pods := make([]policy.RefusedPod, len(refused))
	for i := range refused {
		pods[i] = policy.RefusedPod(refused[i])
	}
	return pods
}

// JudgeAgain implements policy.References.
func (r references) JudgeAgain(uids []types.UID) { r.mux().JudgeAgain(uids) }
