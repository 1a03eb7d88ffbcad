package mutate

import (
	"encoding/json"
	"errors"
	"strings"

	v1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/manifest"
	"github.com/wardlet/wardlet/core/pod"
)

// settle makes a pod of the patched document of p: strictly decoded, defaulted and
// validated as for a document of the pod's source. Fields that no policy may change
// are copied from p. settle may change the patched document.
func settle(p *v1.Pod, patched map[string]any, api bool) (*v1.Pod, error) {
	read := fromManifest
	if api {
		read = fromAPI
	}
	made, err := read(p, patched)
	if err != nil {
		return nil, badPatch("what it makes of the pod is not valid: %s", strings.ReplaceAll(err.Error(), "; line 1: ", "; "))
	}
	settled := &v1.Pod{TypeMeta: p.TypeMeta, Spec: made.Spec}
	p.ObjectMeta.DeepCopyInto(&settled.ObjectMeta)
	p.Status.DeepCopyInto(&settled.Status)
	settled.Labels = made.Labels
	settled.Annotations = made.Annotations
	for _, from := range []map[string]string{made.Annotations, p.Annotations} {
		for key := range from {
			if !strings.HasPrefix(key, configPrefix) {
				continue
			}
			if value, ok := p.Annotations[key]; ok {
				settled.Annotations[key] = value
			} else {
				delete(settled.Annotations, key)
			}
		}
	}
	return settled, nil
}

// fromManifest reads the patched document of a pod of the node's own sources as a
// manifest. It first removes what the node adds to a manifest: the node adds that
// again, and a document that already has it would be refused.
func fromManifest(p *v1.Pod, patched map[string]any) (*v1.Pod, error) {
	if meta, ok := patched["metadata"].(map[string]any); ok {
		if name, ok := meta["name"].(string); ok {
			meta["name"] = strings.TrimSuffix(name, "-"+strings.ToLower(p.Spec.NodeName))
		}
		if annotations, ok := meta["annotations"].(map[string]any); ok {
			for key := range annotations {
				if strings.HasPrefix(key, configPrefix) {
					delete(annotations, key)
				}
			}
		}
	}
	text, err := json.Marshal(patched)
	if err != nil {
		return nil, err
	}
	docs := manifest.Decode(text, manifest.DecodeFrom{
		Source: p.Annotations[pod.AnnotationSource], Kind: api.KindFile, File: "patched", NodeName: p.Spec.NodeName,
	})
	switch {
	case len(docs) == 0:
		return nil, errors.New("it says nothing")
	case docs[0].Err != nil:
		return nil, docs[0].Err.Err
	}
	return docs[0].Pod, nil
}

// fromAPI reads the patched document of a pod as one from an API server.
func fromAPI(p *v1.Pod, patched map[string]any) (*v1.Pod, error) {
	text, err := json.Marshal(patched)
	if err != nil {
		return nil, err
	}
	made := new(v1.Pod)
	if strict, err := kjson.UnmarshalStrict(text, made); err != nil || len(strict) > 0 {
		return nil, errors.Join(append(strict, err)...)
	}
	// A pod that is being deleted is accepted whatever it asks for. That must not
	// apply here.
	made.DeletionTimestamp = nil
	d := manifest.FromAPI(made, manifest.APIFrom{Source: pod.SourceAPI, NodeName: p.Spec.NodeName})
	if d.Err != nil {
		return nil, d.Err.Err
	}
	if err := manifest.Unsupported(d.Pod); err != nil {
		return nil, err
	}
	return d.Pod, nil
}
