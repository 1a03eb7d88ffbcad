package manifest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// decodePod takes one pod from values to a pod that can be run.
func decodePod(t tree, doc map[string]any, from DecodeFrom, id, version string) api.Document {
	bad := func(f faults) api.Document {
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

	written := p.Name
	errs := append(validateWritten(p, from.NodeName), validateNamespace(p, from.Namespaces)...)
	if len(errs) == 0 {
		stamp(p, from)
		uid, err := deriveUID(doc, from.Source, pod.Identity(p), from.NodeName)
		if err != nil {
			return bad(faults{{t.at(""), err}})
		}
		p.Annotations[pod.AnnotationHash] = string(uid)
		if p.UID == "" {
			p.UID = uid
		}
		setDefaults(p)
		errs = append(resolvePriority(&p.Spec), validate(p)...)
		errs = append(errs, validatePlacement(&p.Spec)...)
		errs = append(errs, validateHostSysctls(&p.Spec)...)
		aboutWritten(errs, written, p.Name)
	}
	if len(errs) > 0 {
		return bad(fieldFaults(t, errs))
	}
	return api.Document{Source: from.Source, ID: id, Version: version, Pod: p}
}

// fieldFaults returns the faults of fields with their lines. They quote what the
// document says, and not what was made of it; of a request that the document leaves
// to the limit they leave out what is said of the limit.
func fieldFaults(t tree, errs field.ErrorList) faults {
	var f faults
	for _, err := range errs {
		if len(f) > api.MaxFaults {
			break
		}
		_, value := t.walk(err.Field)
		limit := strings.Replace(err.Field, ".requests[", ".limits[", 1)
		if value == nil && limit != err.Field && slices.ContainsFunc(errs, func(other *field.Error) bool { return other.Field == limit }) {
			continue
		}
		if value != nil && value.Kind == yaml.ScalarNode && sameQuantity(err.BadValue, value.Value) {
			err.BadValue = value.Value
		}
		f = append(f, fault{t.at(err.Field), err})
	}
	return f
}

// sameQuantity reports whether a text is the quantity that a fault quotes, which it does
// in another form.
func sameQuantity(quoted any, written string) bool {
	text, _ := quoted.(string)
	a, err := resource.ParseQuantity(text)
	if err != nil || hugeQuantity.MatchString(written) {
		return false
	}
	b, err := resource.ParseQuantity(written)
	return err == nil && a.Cmp(b) == 0
}

// aboutWritten lets the faults of a pod's name quote the one in the document.
// Where only the name on this node has a fault they say which that is.
func aboutWritten(errs field.ErrorList, written, name string) {
	valid := len(apivalidation.NameIsDNSSubdomain(written, false)) == 0
	for _, err := range errs {
		if err.Field != "metadata.name" || err.BadValue != name {
			continue
		}
		err.BadValue = written
		if valid {
			err.Detail = fmt.Sprintf("with the node's name it is %q: %s", name, err.Detail)
		}
	}
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
	p.Annotations[pod.AnnotationSource] = from.Source
	tolerateAll(&p.Spec)
	p.Status.Phase = v1.PodPending
}
