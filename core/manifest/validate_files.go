package manifest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wardlet/wardlet/core/pod"
)

// maxMode is the greatest mode of a file in a volume.
const maxMode = 0o777

// fileFields are the fields of a pod that can be the content of a file.
var fileFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}

// validateFiles checks a volume whose files are made from objects or from the pod itself.
func validateFiles(v *v1.Volume, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s := v.Secret; s != nil {
		at := at.Child("secret")
		errs = append(errs, required(at.Child("secretName"), s.SecretName)...)
		errs = append(errs, validateMode(s.DefaultMode, at.Child("defaultMode"))...)
		errs = append(errs, validateItems(s.Items, at.Child("items"))...)
	}
	if m := v.ConfigMap; m != nil {
		at := at.Child("configMap")
		errs = append(errs, required(at.Child("name"), m.Name)...)
		errs = append(errs, validateMode(m.DefaultMode, at.Child("defaultMode"))...)
		errs = append(errs, validateItems(m.Items, at.Child("items"))...)
	}
	if d := v.DownwardAPI; d != nil {
		at := at.Child("downwardAPI")
		errs = append(errs, validateMode(d.DefaultMode, at.Child("defaultMode"))...)
		errs = append(errs, validateDownward(d.Items, at.Child("items"))...)
	}
	if p := v.Projected; p != nil {
		at := at.Child("projected")
		errs = append(errs, validateMode(p.DefaultMode, at.Child("defaultMode"))...)
		errs = append(errs, validateProjections(p.Sources, at.Child("sources"))...)
	}
	return errs
}

// validateProjections checks the sources of a projected volume. Each must have one kind, and their
// paths must differ.
func validateProjections(sources []v1.VolumeProjection, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	taken := map[string]bool{}
	place := func(path string, at *field.Path) {
		if path == "" {
			return
		}
		if taken[path] {
			errs = append(errs, field.Invalid(at, path, "conflicting duplicate paths"))
		}
		taken[path] = true
	}
	object := func(name string, items []v1.KeyToPath, at *field.Path) {
		errs = append(errs, required(at.Child("name"), name)...)
		errs = append(errs, validateItems(items, at.Child("items"))...)
		for i := range items {
			place(items[i].Path, at.Child("items").Index(i).Child("path"))
		}
	}
	for i := range sources {
		s, at := &sources[i], at.Index(i)
		kinds := 0
		for _, has := range []bool{s.Secret != nil, s.ConfigMap != nil, s.DownwardAPI != nil, s.ServiceAccountToken != nil} {
			if has {
				kinds++
			}
		}
		switch {
		case kinds == 0:
			errs = append(errs, field.Required(at, "must specify a source"))
		case kinds > 1:
			errs = append(errs, field.Forbidden(at, "may not specify more than 1 volume type per source"))
		case s.Secret != nil:
			object(s.Secret.Name, s.Secret.Items, at.Child("secret"))
		case s.ConfigMap != nil:
			object(s.ConfigMap.Name, s.ConfigMap.Items, at.Child("configMap"))
		case s.DownwardAPI != nil:
			at := at.Child("downwardAPI", "items")
			errs = append(errs, validateDownward(s.DownwardAPI.Items, at)...)
			for j := range s.DownwardAPI.Items {
				place(s.DownwardAPI.Items[j].Path, at.Index(j).Child("path"))
			}
		default:
			place(s.ServiceAccountToken.Path, at.Child("serviceAccountToken", "path"))
		}
	}
	return errs
}

func validateItems(items []v1.KeyToPath, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range items {
		item, at := &items[i], at.Index(i)
		errs = append(errs, required(at.Child("key"), item.Key)...)
		errs = append(errs, validateFilePath(item.Path, at.Child("path"))...)
		errs = append(errs, validateMode(item.Mode, at.Child("mode"))...)
	}
	return errs
}

func validateDownward(items []v1.DownwardAPIVolumeFile, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range items {
		item, at := &items[i], at.Index(i)
		errs = append(errs, validateFilePath(item.Path, at.Child("path"))...)
		errs = append(errs, validateMode(item.Mode, at.Child("mode"))...)
		switch {
		case item.FieldRef == nil && item.ResourceFieldRef == nil:
			errs = append(errs, field.Required(at, "one of fieldRef and resourceFieldRef is required"))
		case item.FieldRef != nil && item.ResourceFieldRef != nil:
			errs = append(errs, field.Invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"))
		case item.FieldRef != nil:
			errs = append(errs, validateFieldRef(item.FieldRef, fileFields, at.Child("fieldRef"))...)
		default:
			at := at.Child("resourceFieldRef")
			errs = append(errs, required(at.Child("containerName"), item.ResourceFieldRef.ContainerName)...)
			errs = append(errs, validateResourceRef(item.ResourceFieldRef, at)...)
		}
	}
	return errs
}

// validateFilePath checks that a path is below a volume and is not one of the volume's own names.
func validateFilePath(text string, at *field.Path) field.ErrorList {
	switch {
	case text == "":
		return field.ErrorList{field.Required(at, "")}
	case path.IsAbs(text):
		return field.ErrorList{field.Invalid(at, text, "must be a relative path")}
	case slices.Contains(strings.Split(text, "/"), ".."):
		return field.ErrorList{field.Invalid(at, text, "must not contain '..'")}
	case strings.HasPrefix(text, ".."):
		return field.ErrorList{field.Invalid(at, text, "must not start with '..'")}
	}
	return nil
}

func validateMode(mode *int32, at *field.Path) field.ErrorList {
	if mode != nil && (*mode < 0 || *mode > maxMode) {
		return field.ErrorList{field.Invalid(at, *mode, "must be a number between 0 and 0777 (octal), both inclusive")}
	}
	return nil
}

func required(at *field.Path, value string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	return nil
}

var (
	// envFields are the fields of a pod that can be the value of a variable.
	envFields = []string{
		"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
		"status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
	}
	// envResources are the resources of a container that can be the value of a variable.
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

// sources returns the number of sources that are set for a variable.
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

// validateFieldRef checks a reference to a field of the pod: one of the given fields, or a label or
// annotation.
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

// validateVolumes checks the volumes and returns the set of their names.
func validateVolumes(volumes []v1.Volume, at *field.Path) (names map[string]bool, errs field.ErrorList) {
	names = map[string]bool{}
	for i := range volumes {
		v, at := &volumes[i], at.Index(i)
		errs = append(errs, uniqueLabel(at.Child("name"), v.Name, names)...)
		errs = append(errs, validateOneKind(v, at)...)
		errs = append(errs, validateFiles(v, at)...)
		if v.HostPath != nil {
			errs = append(errs, validateHostPath(v.HostPath, at.Child("hostPath"))...)
		}
		if v.EmptyDir == nil {
			continue
		}
		if limit := v.EmptyDir.SizeLimit; limit != nil {
			at := at.Child("emptyDir", "sizeLimit")
			if limit.Sign() < 0 {
				errs = append(errs, field.Invalid(at, limit.String(), "must be greater than or equal to 0"))
			}
		}
	}
	return names, errs
}

// validateOneKind refuses a volume with more than one kind.
func validateOneKind(v *v1.Volume, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	kinds := 0
	for _, kind := range []struct {
		name string
		has  bool
	}{
		{"hostPath", v.HostPath != nil},
		{"emptyDir", v.EmptyDir != nil},
		{"secret", v.Secret != nil},
		{"configMap", v.ConfigMap != nil},
		{"downwardAPI", v.DownwardAPI != nil},
		{"projected", v.Projected != nil},
	} {
		if !kind.has {
			continue
		}
		if kinds++; kinds > 1 {
			errs = append(errs, field.Forbidden(at.Child(kind.name), "may not specify more than 1 volume type"))
		}
	}
	return errs
}

func validateHostPath(h *v1.HostPathVolumeSource, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	if h.Path == "" {
		errs = append(errs, field.Required(at.Child("path"), ""))
	} else if !strings.HasPrefix(h.Path, "/") {
		errs = append(errs, field.Invalid(at.Child("path"), h.Path, "must be an absolute path"))
	} else if slices.Contains(strings.Split(h.Path, "/"), "..") {
		errs = append(errs, field.Invalid(at.Child("path"), h.Path, "must not contain '..'"))
	}
	return append(errs, oneOf(at.Child("type"), *h.Type,
		v1.HostPathUnset, v1.HostPathDirectoryOrCreate, v1.HostPathDirectory, v1.HostPathFileOrCreate,
		v1.HostPathFile, v1.HostPathSocket, v1.HostPathCharDev, v1.HostPathBlockDev)...)
}
