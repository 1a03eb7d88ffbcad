package manifest

import (
	"path"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxMode is the greatest mode of a file in a volume.
const maxMode = 0o777

// fileFields are the fields of a pod that a file may take its text from.
var fileFields = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"}

// validateFiles checks a volume of files that are made of objects and of the pod itself.
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

// validateProjections checks the sources of a projected volume, of which each has one kind, and no two the same path.
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

// validateFilePath wants a path below a volume that is not one of the volume's own names.
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
