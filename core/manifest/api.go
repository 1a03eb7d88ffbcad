package manifest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
	v1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/pod"
)

// APIFrom says where pods of an API server come from.
type APIFrom struct {
	// Source is the source's name in agent.toml.
	Source string
	// Server is the API server's URL.
	Server string
	// NodeName is this node's name.
	NodeName string
}

// FromAPI returns the document of a pod from an API server: its ID is "namespace/name", its version
// the resourceVersion. FromAPI takes ownership of p: the caller must not use p again.
//
// A pod that is not this node's, or whose names cannot be used on the node, is a bad document. The
// other fields of the pod are not checked here: see Unsupported.
func FromAPI(p *v1.Pod, from APIFrom) api.Document {
	p.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	p.ManagedFields = nil
	if p.Annotations == nil {
		p.Annotations = map[string]string{}
	}
	p.Annotations[pod.AnnotationSource] = pod.SourceAPI
	d := api.Document{Source: from.Source, ID: p.Namespace + "/" + p.Name, Version: p.ResourceVersion}
	setDefault(&p.Spec.TerminationGracePeriodSeconds, new(int64(v1.DefaultTerminationGracePeriodSeconds)))
	if errs := validateGiven(p, from.NodeName); len(errs) > 0 {
		d.Err = &api.DocumentError{File: apiURL(p, from.Server), Err: told(errs)}
		return d
	}
	if !startsNothing(p) && checkAPISpec(&p.Spec) == nil {
		setDefaults(p)
	}
	d.Pod = p
	return d
}

// startsNothing reports whether a pod starts no containers: it is a mirror pod, or has terminated
// or is being deleted. Such a pod is handled whatever its fields are.
func startsNothing(p *v1.Pod) bool {
	return pod.IsMirror(p) || pod.IsTerminal(p.Status.Phase) || p.DeletionTimestamp != nil
}

// Unsupported returns an error that names the fields of an API server's pod that this version does
// not support, by the table of docs/supported-fields.md, and the invalid values; nil for a pod that
// may run. p is the pod from FromAPI. Fields that have meaning only for a scheduler or for the API
// server itself may have any value.
func Unsupported(p *v1.Pod) error {
	if startsNothing(p) {
		return nil
	}
	if err := checkAPISpec(&p.Spec); err != nil {
		return err
	}
	return told(append(validateOwnAnnotations(p), validate(p)...))
}

// apiURL returns the URL of the pod.
func apiURL(p *v1.Pod, server string) string {
	return strings.TrimSuffix(server, "/") + "/api/v1/namespaces/" + url.PathEscape(p.Namespace) + "/pods/" + url.PathEscape(p.Name)
}

// validateGiven checks the values from which names on the node are made, and that the pod is this
// node's.
func validateGiven(p *v1.Pod, node string) field.ErrorList {
	errs := invalid(metadataPath.Child("name"), p.Name, apivalidation.NameIsDNSSubdomain(p.Name, false))
	errs = append(errs, invalid(metadataPath.Child("namespace"), p.Namespace, apivalidation.ValidateNamespaceName(p.Namespace, false))...)
	if !validUID.MatchString(string(p.UID)) {
		errs = append(errs, field.Invalid(metadataPath.Child("uid"), p.UID, "must be at most 63 letters, digits and dashes"))
	}
	if p.ResourceVersion == "" {
		errs = append(errs, field.Required(metadataPath.Child("resourceVersion"), ""))
	}
	if p.Spec.NodeName != node {
		errs = append(errs, field.Invalid(specPath.Child("nodeName"), p.Spec.NodeName,
			fmt.Sprintf("this node is %q; what answers does not honour the field selector", node)))
	}
	return errs
}

// validateOwnAnnotations checks Wardlet's own annotations.
func validateOwnAnnotations(p *v1.Pod) field.ErrorList {
	var errs field.ErrorList
	for key, value := range p.Annotations {
		switch {
		case key == pod.AnnotationIdentity:
			errs = append(errs, invalid(annotationsPath.Key(key), value, validation.IsDNS1123Label(value))...)
		case strings.HasPrefix(key, "wardlet.dev/") && key != pod.AnnotationOnDisconnect:
			errs = append(errs, field.Forbidden(annotationsPath.Key(key), "this version knows no such annotation for pods"))
		}
	}
	return errs
}

// takenAsTheyAre are the fields of an API pod's spec that are accepted with any value, although the
// table of supported fields lacks them or limits their values: schedulers and the API server's
// admission have already acted on them. If the node's own admission uses such a field, it supports
// every value.
var takenAsTheyAre = []string{
	"affinity", "automountServiceAccountToken", "nodeSelector", "preemptionPolicy", "priority", "priorityClassName",
	"schedulerName", "schedulingGates", "schedulingGroup", "serviceAccount", "serviceAccountName", "tolerations",
	"topologySpreadConstraints",
}

// checkAPISpec returns an error for fields that this version does not support.
func checkAPISpec(s *v1.PodSpec) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	spec, err := object(text)
	if err != nil {
		return err
	}
	for _, name := range takenAsTheyAre {
		delete(spec, name)
	}
	for _, list := range []string{"containers", "initContainers"} {
		containers, _ := spec[list].([]any)
		for i := range containers {
			if c, ok := containers[i].(map[string]any); ok {
				// resizePolicy only says how resources may change in place, and they do not change
				// here.
				delete(c, "resizePolicy")
			}
		}
	}
	c := newFieldCheck(tree{root: new(yaml.Node)})
	c.fields(spec, reflect.TypeFor[v1.PodSpec](), "spec", "spec", false)
	var errs []error
	for _, f := range c.faults {
		errs = append(errs, f.err)
	}
	return joined(errs)
}

func told(errs field.ErrorList) error {
	var all []error
	for _, err := range errs {
		all = append(all, err)
	}
	return joined(all)
}

// joined joins errors into one line.
func joined(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	err := errs[0]
	for i, more := range errs[1:] {
		if i+1 == api.MaxFaults {
			return fmt.Errorf("%w; and more", err)
		}
		err = fmt.Errorf("%w; %w", err, more)
	}
	return err
}
