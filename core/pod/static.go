package pod

import (
	"errors"
	"reflect"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

// decodePod takes one pod from values to a pod that can be run.
func decodePod(t tree, doc map[string]any, from DecodeFrom, id, version string) Document {
	bad := func(f faults) Document {
		d := refuse(from, id, version, f)
		d.Claims = claimed(t.json, from.NodeName)
		return d
	}
	c := newFieldCheck(t)
	c.static = true
	c.fields(doc, reflect.TypeFor[v1.Pod](), "", "", false)
	if len(c.faults) > 0 {
		return bad(c.faults)
	}
	p := new(v1.Pod)
	if strict, err := kjson.UnmarshalStrict(t.json, p); err != nil || len(strict) > 0 {
		return bad(faults{{t.at(""), errors.Join(append(strict, err)...)}})
	}
	p.CreationTimestamp = metav1.Time{}
	p.Status = v1.PodStatus{}

	errs := append(validateWritten(p, from.NodeName), validateNamespace(p, from.Namespaces)...)
	if len(errs) == 0 {
		stamp(p, from)
		uid, err := deriveUID(doc, from.Source, Identity(p), from.NodeName)
		if err != nil {
			return bad(faults{{t.at(""), err}})
		}
		p.Annotations[AnnotationHash] = string(uid)
		if p.UID == "" {
			p.UID = uid
		}
		setDefaults(p)
		errs = append(resolvePriority(&p.Spec), validate(p)...)
		errs = append(errs, validatePlacement(&p.Spec)...)
		errs = append(errs, validateHostSysctls(&p.Spec)...)
	}
	if len(errs) > 0 {
		return bad(fieldFaults(t, errs))
	}
	return Document{Source: from.Source, ID: id, Version: version, Pod: p}
}

func fieldFaults(t tree, errs field.ErrorList) faults {
	var f faults
	for _, err := range errs[:min(len(errs), maxFaults+1)] {
		f = append(f, fault{t.at(err.Field), err})
	}
	return f
}

// stamp makes the pod this node's: its name, namespace and node, and what
// says where it came from. It tolerates every taint that would end it.
func stamp(p *v1.Pod, from DecodeFrom) {
	p.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	place(p, from.NodeName)
	p.Spec.NodeName = from.NodeName
	if p.Annotations == nil {
		p.Annotations = map[string]string{}
	}
	p.Annotations[AnnotationSource] = from.Source
	tolerateAll(&p.Spec)
	p.Status.Phase = v1.PodPending
}
