package manifest

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wardlet/wardlet/core/pod"
)

var (
	// envFields are the fields of a pod that a variable may take its value from.
	envFields = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
	}
	// envResources are the resources of a container that it may.
	envResources = []string{
		"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory",
	}
)

func validateEnv(env []v1.EnvVar, volumes []v1.Volume, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range env {
		v, at := &env[i], at.Index(i)
		if v.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		} else {
			errs = append(errs, invalid(at.Child("name"), v.Name, validation.IsRelaxedEnvVarName(v.Name))...)
		}
		if v.ValueFrom != nil {
			errs = append(errs, validateValueFrom(v, volumes, at.Child("valueFrom"))...)
		}
	}
	return errs
}

func validateValueFrom(v *v1.EnvVar, volumes []v1.Volume, at *field.Path) field.ErrorList {
	from := v.ValueFrom
	switch {
	case v.Value != "":
		return field.ErrorList{field.Invalid(at, "", "may not be specified when `value` is not empty")}
	case sources(from) != 1:
		return field.ErrorList{field.Invalid(at, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef`, `fileKeyRef`")}
	case from.FieldRef != nil:
		return validateFieldRef(from.FieldRef, envFields, at.Child("fieldRef"))
	case from.ResourceFieldRef != nil:
		return validateResourceRef(from.ResourceFieldRef, at.Child("resourceFieldRef"))
	case from.ConfigMapKeyRef != nil:
		return validateKeyRef(from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key, at.Child("configMapKeyRef"))
	case from.SecretKeyRef != nil:
		return validateKeyRef(from.SecretKeyRef.Name, from.SecretKeyRef.Key, at.Child("secretKeyRef"))
	default:
		return validateFileRef(from.FileKeyRef, volumes, at.Child("fileKeyRef"))
	}
}

func validateFileRef(r *v1.FileKeySelector, volumes []v1.Volume, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.Key == "" {
		errs = append(errs, field.Required(at.Child("key"), ""))
	} else {
		errs = append(errs, invalid(at.Child("key"), r.Key, validation.IsRelaxedEnvVarName(r.Key))...)
	}
	if r.Path == "" {
		errs = append(errs, field.Required(at.Child("path"), ""))
	} else if slices.Contains(strings.Split(r.Path, "/"), "..") {
		errs = append(errs, field.Invalid(at.Child("path"), r.Path, "must not contain '..'"))
	}
	i := slices.IndexFunc(volumes, func(v v1.Volume) bool { return v.Name == r.VolumeName })
	switch at := at.Child("volumeName"); {
	case r.VolumeName == "":
		errs = append(errs, field.Required(at, ""))
	case i < 0:
		errs = append(errs, field.NotFound(at, r.VolumeName))
	case volumes[i].EmptyDir == nil:
		errs = append(errs, field.Invalid(at, r.VolumeName, "referenced volume must be of type emptyDir"))
	}
	return errs
}

// sources counts what a variable takes its value from.
func sources(from *v1.EnvVarSource) (n int) {
	for _, has := range []bool{from.FieldRef != nil, from.ResourceFieldRef != nil, from.ConfigMapKeyRef != nil, from.SecretKeyRef != nil, from.FileKeyRef != nil} {
		if has {
			n++
		}
	}
	return n
}

// validateKeyRef checks the name of an object and a key of it.
func validateKeyRef(name, key string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if name == "" {
		errs = append(errs, field.Required(at.Child("name"), ""))
	}
	if key == "" {
		return append(errs, field.Required(at.Child("key"), ""))
	}
	return append(errs, invalid(at.Child("key"), key, validation.IsConfigMapKey(key))...)
}

func validateEnvFrom(all []v1.EnvFromSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range all {
		from, at := &all[i], at.Index(i)
		if from.Prefix != "" {
			errs = append(errs, invalid(at.Child("prefix"), from.Prefix, validation.IsRelaxedEnvVarName(from.Prefix))...)
		}
		switch {
		case (from.ConfigMapRef != nil) == (from.SecretRef != nil):
			errs = append(errs, field.Invalid(at, "", "must specify one of: `configMapRef`, `secretRef`"))
		case from.ConfigMapRef != nil && from.ConfigMapRef.Name == "":
			errs = append(errs, field.Required(at.Child("configMapRef", "name"), ""))
		case from.SecretRef != nil && from.SecretRef.Name == "":
			errs = append(errs, field.Required(at.Child("secretRef", "name"), ""))
		}
	}
	return errs
}

// validateFieldRef checks a field of the pod: one of some fields, or a label or annotation.
func validateFieldRef(r *v1.ObjectFieldSelector, fields []string, at *field.Path) field.ErrorList {
	path := at.Child("fieldPath")
	if r.FieldPath == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	of, key, subscript := pod.Subscript(r.FieldPath)
	switch {
	case !subscript && slices.Contains(fields, r.FieldPath):
		return nil
	case subscript && of == "metadata.labels":
		return invalid(path, key, validation.IsQualifiedName(key))
	case subscript && of == "metadata.annotations":
		return invalid(path, key, validation.IsQualifiedName(strings.ToLower(key)))
	}
	return field.ErrorList{field.NotSupported(path, r.FieldPath, fields)}
}

func validateResourceRef(r *v1.ResourceFieldSelector, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.Resource == "" {
		return field.ErrorList{field.Required(at.Child("resource"), "")}
	}
	if !slices.Contains(envResources, r.Resource) {
		errs = append(errs, field.NotSupported(at.Child("resource"), r.Resource, envResources))
	}
	units := map[string][]string{
		"cpu": {"1m", "1"}, "memory": {"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"},
	}
	units["ephemeral-storage"] = units["memory"]
	_, name, _ := strings.Cut(r.Resource, ".")
	if d := r.Divisor; !d.IsZero() && !slices.Contains(units[name], d.String()) && units[name] != nil {
		errs = append(errs, field.Invalid(at.Child("divisor"), d.String(), fmt.Sprintf("only divisor's values %s are supported", strings.Join(units[name], ", "))))
	}
	return errs
}
