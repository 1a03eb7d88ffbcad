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

// effect says how a changed field of a pod that runs takes effect.
type effect int

const (
	// anew: the sandbox or a container is made from the field, or a pod is admitted by it.
	// A static pod is replaced under its UID; an API server's pod does not take the update.
	anew effect = iota
	// inPlace: the agent acts on the newest version while the pod runs.
	inPlace
)

// podEffects and containerEffects are the one place that says what an update may change
// of a pod that runs. A field that is in neither is anew. Labels and annotations are no
// part of the spec, and always change in place.
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
	"priority":                      inPlace, // whose room is taken next
	"priorityClassName":             anew,    // the OOM score of containers follows from it
	"readinessGates":                inPlace, // only the status reads them
	"resourceClaims":                anew,
	"resources":                     anew,
	"restartPolicy":                 inPlace, // for the next end of a container
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
	"terminationGracePeriodSeconds": inPlace, // for the end to come
	"tolerations":                   inPlace, // for the next look at the taints
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

// Remade returns the first field, such as spec.containers[0].args, in which after says that
// a pod is made otherwise than before says; "" where what runs of before may go on as after.
// Values are compared by what they mean. It returns "" where one of the pods is nil.
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

// MadeFrom identifies what the sandbox and the containers of a pod are made from, by 32
// hexadecimal digits. It stands on sandboxes, so it must stay what it is for a pod: where a
// newer agent has another one, the next start of the agent may replace what runs.
func MadeFrom(p *v1.Pod) (string, error) {
	text, err := json.Marshal(madeFrom(&p.Spec))
	if err != nil {
		return "", fmt.Errorf("identify what pod %s/%s is made from: %w", p.Namespace, p.Name, err)
	}
	return Digest(append([]byte("made from\x00"), text...))[:32], nil
}

// madeFrom returns the fields that are anew and say something, by their paths, as texts.
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
	if err != nil { // no type of the API does that
		text = fmt.Append(nil, v.Interface())
	}
	to[prefix+name] = string(text)
}

// meaning is v so that values which mean the same are the same as JSON: quantities by their
// amount, and without fields that say nothing. It is nil where v says nothing.
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
		return []any{meaning(v.Elem())} // a pointer to nothing says more than none
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

// fieldsOf yields the fields of a struct by their names in JSON, those without one by their
// names in Go.
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
