package manifest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// references are the fields with which a pod asks for an API object, by row,
// and what a kubelet calls the object (HasAPIObjectReference, pkg/api/pod). A
// static pod may not: the node reads it without any API server. Those of
// containers hold for init containers too.
var references = map[string]string{
	"spec.serviceAccountName": "serviceaccounts",
	"spec.serviceAccount":     "serviceaccounts",
	"spec.imagePullSecrets":   "secrets",
	"spec.resourceClaims":     "resourceclaims",

	"spec.containers[].envFrom[].secretRef":                  "secrets",
	"spec.containers[].envFrom[].configMapRef":               "configmaps",
	"spec.containers[].env[].valueFrom.secretKeyRef":         "secrets",
	"spec.containers[].env[].valueFrom.configMapKeyRef":      "configmaps",
	"spec.volumes[].secret":                                  "secrets",
	"spec.volumes[].configMap":                               "configmaps",
	"spec.volumes[].persistentVolumeClaim":                   "persistentvolumeclaims",
	"spec.volumes[].ephemeral":                               "persistentvolumeclaims (via ephemeral volumes)",
	"spec.volumes[].csi":                                     "csidrivers (via CSI volumes)",
	"spec.volumes[].csi.nodePublishSecretRef":                "secrets",
	"spec.volumes[].glusterfs":                               "endpoints (via glusterFS volumes)",
	"spec.volumes[].azureFile":                               "secrets",
	"spec.volumes[].cephfs.secretRef":                        "secrets",
	"spec.volumes[].cinder.secretRef":                        "secrets",
	"spec.volumes[].flexVolume.secretRef":                    "secrets",
	"spec.volumes[].iscsi.secretRef":                         "secrets",
	"spec.volumes[].rbd.secretRef":                           "secrets",
	"spec.volumes[].scaleIO.secretRef":                       "secrets",
	"spec.volumes[].storageos.secretRef":                     "secrets",
	"spec.volumes[].projected.sources[].secret":              "secrets",
	"spec.volumes[].projected.sources[].configMap":           "configmaps",
	"spec.volumes[].projected.sources[].podCertificate":      "podcertificates",
	"spec.volumes[].projected.sources[].serviceAccountToken": "serviceaccounts (via projected volumes)",
	"spec.volumes[].projected.sources[].clusterTrustBundle":  "clustertrustbundles",
}

// reference is a field that asks for an API object.
type reference struct{ path, object string }

// referencesIn finds those at the path and below it.
func referencesIn(v any, path, row string) []reference {
	var found []reference
	if object, ok := references[strings.Replace(row, "spec.initContainers[]", "spec.containers[]", 1)]; ok && asks(v) {
		found = append(found, reference{path, object})
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			found = append(found, referencesIn(v[name], join(path, name), join(row, name))...)
		}
	case []any:
		for i, item := range v {
			found = append(found, referencesIn(item, path+"["+strconv.Itoa(i)+"]", row+"[]")...)
		}
	}
	return found
}

// asks reports whether the value asks for an object: an empty one does, an
// empty list does not.
func asks(v any) bool {
	items, list := v.([]any)
	return v != nil && v != "" && (!list || len(items) > 0)
}
