package pod

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// effect is how a changed field of a running pod takes effect.
type effect int

const (
	// anew: the sandbox or a container is made from the field, or the field decides about
	// admission. A static pod is replaced under its UID; for an API server's pod the update has no
	// effect.
	anew effect = iota
	// inPlace: the agent uses the newest version while the pod runs.
	inPlace
)

// podEffects and containerEffects are the only definition of what an update may change in a running
// pod. A field that is in neither is anew. Labels and annotations are not part of the spec, and
// always change in place.
var podEffects = map[string]effect{
	"activeDeadlineSeconds":         inPlace,
	"affinity":                      anew,
	"automountServiceAccountToken":  anew,
	"containers":                    anew, // field by field, see containerEffects
	"dnsConfig":                     anew,
	"dnsPolicy":                     anew,
	"enableServiceLinks":            anew,
	"ephemeralContainers":           inPlace, // added to what runs
	"hostAliases":                   anew,
	"hostIPC":                       anew,
	"hostNetwork":                   anew,
	"hostPID":                       anew,
	"hostUsers":                     anew,
	"hostname":                      anew,
	"hostnameOverride":              anew,
	"imagePullSecrets":              inPlace, // for the next pull
	"initContainers":                anew,    // field by field, as containers
	"nodeName":                      anew,
	"nodeSelector":                  anew,
	"os":                            anew,
	"overhead":                      anew,
	"preemptionPolicy":              inPlace, // for the next admission
	"priority":                      inPlace, // used for the next preemption
	"priorityClassName":             anew,    // the OOM score of containers follows from it
	"readinessGates":                inPlace, // only the status reads them
	"resourceClaims":                anew,
	"resources":                     anew,
	"restartPolicy":                 inPlace, // used when a container exits next
	"runtimeClassName":              anew,
	"schedulerName":                 inPlace, // without effect on a node
	"schedulingGates":               inPlace, // without effect on a node
	"schedulingGroup":               inPlace, // without effect on a node
	"securityContext":               anew,
	"serviceAccount":                anew,
	"serviceAccountName":            anew,
	"setHostnameAsFQDN":             anew,
	"shareProcessNamespace":         anew,
	"subdomain":                     anew,
	"terminationGracePeriodSeconds": inPlace, // used at the next termination
	"tolerations":                   inPlace, // used at the next check of the taints
	"topologySpreadConstraints":     inPlace, // without effect on a node
	"volumes":                       anew,
}

var containerEffects = map[string]effect{
	"args":                     anew,
	"command":                  anew,
	"env":                      anew,
	"envFrom":                  anew,
	"image":                    inPlace, // the worker restarts that container
	"imagePullPolicy":          inPlace, // for the next pull
	"lifecycle":                anew,
	"livenessProbe":            anew,
	"name":                     anew,
	"ports":                    anew,
	"readinessProbe":           anew,
	"resizePolicy":             anew,
	"resources":                anew,
	"restartPolicy":            anew,
	"restartPolicyRules":       anew,
	"securityContext":          anew,
	"startupProbe":             anew,
	"stdin":                    anew,
	"stdinOnce":                anew,
	"terminationMessagePath":   anew,
	"terminationMessagePolicy": anew,
	"tty":                      anew,
	"volumeDevices":            anew,
	"volumeMounts":             anew,
	"workingDir":               anew,
}

// Remade returns the first field, such as spec.containers[0].args, whose change from before to
// after requires that the pod is made again. It returns "" if the running pod may continue as
// after, or if one of the pods is nil. Values are compared semantically.
func Remade(before, after *v1.Pod) string {
	if before == nil || after == nil {
		return ""
	}
	was, is := madeFrom(&before.Spec), madeFrom(&after.Spec)
	all := maps.Clone(was)
	maps.Copy(all, is)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if was[path] != is[path] {
			return path
		}
	}
	return ""
}

// MadeFrom returns the identity of what the sandbox and the containers of a pod are made from, in
// 32 hexadecimal digits. It is stored on sandboxes, so it must never change for the same pod: if a
// newer agent computes another one, its start may replace running pods.
func MadeFrom(p *v1.Pod) (string, error) {
	text, err := json.Marshal(madeFrom(&p.Spec))
	if err != nil {
		return "", fmt.Errorf("identify what pod %s/%s is made from: %w", p.Namespace, p.Name, err)
	}
	return Digest(append([]byte("made from\x00"), text...))[:32], nil
}

// madeFrom returns the fields that are anew and not empty, by their paths, as texts.
func madeFrom(spec *v1.PodSpec) map[string]string {
	fields := map[string]string{}
	for name, v := range fieldsOf(reflect.ValueOf(*spec)) {
		containers, ok := reflect.TypeAssert[[]v1.Container](v)
		if !ok {
			addMade(fields, podEffects, "spec.", name, v)
			continue
		}
		for i := range containers {
			prefix := "spec." + name + "[" + strconv.Itoa(i) + "]."
			for member, v := range fieldsOf(reflect.ValueOf(containers[i])) {
				addMade(fields, containerEffects, prefix, member, v)
			}
		}
	}
	return fields
}

func addMade(to map[string]string, effects map[string]effect, prefix, name string, v reflect.Value) {
	if effects[name] == inPlace {
		return
	}
	value := meaning(v)
	if value == nil {
		return
	}
	text, err := json.Marshal(value)
	if err != nil { // no type of the API fails here
		text = fmt.Append(nil, v.Interface())
	}
	to[prefix+name] = string(text)
}

// meaning converts v so that semantically equal values have equal JSON: quantities by their amount,
// and without empty fields. It returns nil if v is empty.
func meaning(v reflect.Value) any {
	switch value := v.Interface().(type) {
	case resource.Quantity:
		amount, ok := new(big.Rat).SetString(new(value.DeepCopy()).AsDec().String())
		if !ok {
			return value.String()
		}
		return amount.RatString()
	case json.Marshaler:
		return value
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return []any{meaning(v.Elem())} // a pointer to an empty value differs from nil
	case reflect.Struct:
		members := map[string]any{}
		for name, member := range fieldsOf(v) {
			if value := meaning(member); value != nil {
				members[name] = value
			}
		}
		if len(members) > 0 {
			return members
		}
	case reflect.Slice:
		var items []any
		for i := range v.Len() {
			items = append(items, meaning(v.Index(i)))
		}
		if len(items) > 0 {
			return items
		}
	case reflect.Map:
		entries := map[string]any{}
		for _, key := range v.MapKeys() {
			entries[key.String()] = meaning(v.MapIndex(key))
		}
		if len(entries) > 0 {
			return entries
		}
	default:
		if !v.IsZero() {
			return v.Interface()
		}
	}
	return nil
}

// fieldsOf returns the fields of a struct by their JSON names, or by their Go names if they have
// none.
func fieldsOf(v reflect.Value) map[string]reflect.Value {
	fields := make(map[string]reflect.Value, v.NumField())
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		fields[name] = v.Field(i)
	}
	return fields
}
