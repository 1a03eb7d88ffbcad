package manifest

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/api"
)

func TestStaticPodsMayNotReferenceAPIObjects(t *testing.T) {
	t.Parallel()
	volume := func(source string) string { return "  volumes:\n  - {name: v, " + source + "}" }
	projected := func(source string) string { return volume("projected: {sources: [{" + source + "}]}") }
	for _, tc := range []struct{ rule, field, want string }{
		{"a service account", "  serviceAccountName: robot", "9: spec.serviceAccountName: static pods may not reference serviceaccounts"},
		{"a service account by its old name", "  serviceAccount: robot", "9: spec.serviceAccount: static pods may not reference serviceaccounts"},
		{"a resource claim", "  resourceClaims: [{name: a}]", "9: spec.resourceClaims: static pods may not reference resourceclaims"},
		{"a claim", volume("persistentVolumeClaim: {claimName: a}"), "10: spec.volumes[0].persistentVolumeClaim: static pods may not reference persistentvolumeclaims"},
		{"a claim that would be made", volume("ephemeral: {}"), "10: spec.volumes[0].ephemeral: static pods may not reference persistentvolumeclaims (via ephemeral volumes)"},
		{"a CSI driver", volume("csi: {driver: a.b}"), "10: spec.volumes[0].csi: static pods may not reference csidrivers (via CSI volumes)"},
		{
			"a CSI driver and its secret", volume("csi: {driver: a.b, nodePublishSecretRef: {name: a}}"),
			"10: spec.volumes[0].csi: static pods may not reference csidrivers (via CSI volumes); " +
				"line 10: spec.volumes[0].csi.nodePublishSecretRef: static pods may not reference secrets",
		},
		{"the endpoints of glusterFS", volume("glusterfs: {endpoints: a, path: b}"), "10: spec.volumes[0].glusterfs: static pods may not reference endpoints (via glusterFS volumes)"},
		{"the secret of azureFile", volume("azureFile: {secretName: a}"), "10: spec.volumes[0].azureFile: static pods may not reference secrets"},
		{"the secret of another volume", volume("rbd: {secretRef: {name: a}}"), "10: spec.volumes[0].rbd.secretRef: static pods may not reference secrets"},
		{"a token", projected("serviceAccountToken: {}"), "10: spec.volumes[0].projected.sources[0].serviceAccountToken: static pods may not reference serviceaccounts (via projected volumes)"},
		{"a trust bundle", projected("clusterTrustBundle: {}"), "10: spec.volumes[0].projected.sources[0].clusterTrustBundle: static pods may not reference clustertrustbundles"},
		{"a certificate", projected("podCertificate: {}"), "10: spec.volumes[0].projected.sources[0].podCertificate: static pods may not reference podcertificates"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			for _, kind := range []string{api.KindFile, api.KindHTTP} {
				from := testFrom
				from.Kind = kind
				docs := Decode([]byte(manifest(tc.field)), from)
				if docs[0].Err == nil {
					t.Fatal("not refused")
				}
				if got := strings.TrimPrefix(docs[0].Err.Error(), "/m/web.yaml:"); got != tc.want {
					t.Errorf("got  %q\nwant %q", got, tc.want)
				}
			}
		})
	}
}

func TestStaticPodsMayReferenceLocalObjects(t *testing.T) {
	t.Parallel()
	volume := func(source string) string { return "  volumes:\n  - {name: v, " + source + "}" }
	projected := func(source string) string { return volume("projected: {sources: [" + source + "]}") }
	for _, tc := range []struct {
		rule, field string
		// want is the expected error, empty if the field is accepted.
		want string
	}{
		{"the secret of a registry", "  imagePullSecrets: [{name: a}]", ""},
		{"all keys of a secret", "    envFrom: [{secretRef: {name: a}}]", ""},
		{"all keys of nothing", "    envFrom: [{secretRef: {}}]", "9: spec.containers[0].envFrom[0].secretRef.name: Required value"},
		{"a key of a config map", "    env: [{name: A, valueFrom: {configMapKeyRef: {name: a, key: k}}}]", ""},
		{"a key that is a path", "    env: [{name: A, valueFrom: {configMapKeyRef: {name: a, key: a/b}}}]", "9: spec.containers[0].env[0].valueFrom.configMapKeyRef.key: Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"},
		{"a secret", volume("secret: {secretName: a, defaultMode: 256, items: [{key: k, path: d/p, mode: 511}]}"), ""},
		{"a secret without a name", volume("secret: {}"), "10: spec.volumes[0].secret.secretName: Required value"},
		{"a config map without a name", volume("configMap: {}"), "10: spec.volumes[0].configMap.name: Required value"},
		{"a mode with bits beyond", volume("configMap: {name: a, defaultMode: 512}"), "10: spec.volumes[0].configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive"},
		{"a path that leads out", volume("configMap: {name: a, items: [{key: k, path: a/../../b}]}"), "10: spec.volumes[0].configMap.items[0].path: Invalid value: \"a/../../b\": must not contain '..'"},
		{"a path that is the volume's own", volume("configMap: {name: a, items: [{key: k, path: ..data/b}]}"), "10: spec.volumes[0].configMap.items[0].path: Invalid value: \"..data/b\": must not start with '..'"},
		{"an absolute path", volume("secret: {secretName: a, items: [{key: k, path: /b}]}"), "10: spec.volumes[0].secret.items[0].path: Invalid value: \"/b\": must be a relative path"},
		{"an item without a key", volume("secret: {secretName: a, items: [{path: b}]}"), "10: spec.volumes[0].secret.items[0].key: Required value"},
		{"the pod itself", volume("downwardAPI: {items: [{path: l, fieldRef: {fieldPath: metadata.labels}}, {path: c, resourceFieldRef: {containerName: app, resource: limits.cpu}}]}"), ""},
		{"a field that a file cannot have", volume("downwardAPI: {items: [{path: l, fieldRef: {fieldPath: status.podIP}}]}"), "10: spec.volumes[0].downwardAPI.items[0].fieldRef.fieldPath: Unsupported value: \"status.podIP\": supported values: \"metadata.annotations\", \"metadata.labels\", \"metadata.name\", \"metadata.namespace\", \"metadata.uid\""},
		{"a resource of no container", volume("downwardAPI: {items: [{path: c, resourceFieldRef: {resource: limits.cpu}}]}"), "10: spec.volumes[0].downwardAPI.items[0].resourceFieldRef.containerName: Required value"},
		{"a file of nothing", volume("downwardAPI: {items: [{path: c}]}"), "10: spec.volumes[0].downwardAPI.items[0]: Required value: one of fieldRef and resourceFieldRef is required"},
		{"several sources", projected("{secret: {name: a}}, {configMap: {name: b, items: [{key: k, path: p}]}}, {downwardAPI: {items: [{path: name, fieldRef: {fieldPath: metadata.name}}]}}"), ""},
		{"two sources in one", projected("{secret: {name: a}, configMap: {name: b}}"), "10: spec.volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type per source"},
		{"a source of nothing", projected("{}"), "10: spec.volumes[0].projected.sources[0]: Required value: must specify a source"},
		{"two files of one path", projected("{secret: {name: a, items: [{key: k, path: p}]}}, {configMap: {name: b, items: [{key: k, path: p}]}}"), "10: spec.volumes[0].projected.sources[1].configMap.items[0].path: Invalid value: \"p\": conflicting duplicate paths"},
		{"a volume of two kinds", volume("secret: {secretName: a}, configMap: {name: b}"), "10: spec.volumes[0].configMap: Forbidden: may not specify more than 1 volume type"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			t.Parallel()
			expectRefusal(t, manifest(tc.field), tc.want)
		})
	}
}
