package manifest

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

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

// validateOneKind refuses a volume of two kinds.
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
