package manifest

import (
	"strings"
	"testing"

	"github.com/wardlet/wardlet/core/api"
)

func TestStaticPodsMayNotReferenceAPIObjects(t *testing.T) {
	t.Parallel()
	init := func(field string) string { return "  initContainers:\n  - {name: i, image: i, " + field + "}" }
	volume := func(source string) string { return "  volumes:\n  - {name: v, " + source + "}" }
	projected := func(source string) string { return volume("projected: {sources: [{" + source + "}]}") }
	for _, tc := range []struct{ rule, field, want string }{
		{"a service account", "  serviceAccountName: robot", "9: spec.serviceAccountName: static pods may not reference serviceaccounts"},
		{"a service account by its old name", "  serviceAccount: robot", "9: spec.serviceAccount: static pods may not reference serviceaccounts"},
		{"the secret of a registry", "  imagePullSecrets: [{name: a}]", "9: spec.imagePullSecrets: static pods may not reference secrets"},
		{"no registry's secret", "  imagePullSecrets: []", "9: spec.imagePullSecrets: not supported by this version yet"},
		{"a resource claim", "  resourceClaims: [{name: a}]", "9: spec.resourceClaims: static pods may not reference resourceclaims"},
		{"all keys of a secret", "    envFrom: [{secretRef: {name: a}}]", "9: spec.containers[0].envFrom[0].secretRef: static pods may not reference secrets"},
		{"all keys of a config map", "    envFrom: [{configMapRef: {name: a}}]", "9: spec.containers[0].envFrom[0].configMapRef: static pods may not reference configmaps"},
		{"a key of a secret", "    env: [{name: A, valueFrom: {secretKeyRef: {}}}]", "9: spec.containers[0].env[0].valueFrom.secretKeyRef: static pods may not reference secrets"},
		{"a key of a config map", "    env: [{name: A, valueFrom: {configMapKeyRef: {}}}]", "9: spec.containers[0].env[0].valueFrom.configMapKeyRef: static pods may not reference configmaps"},
		{"an init container's secret", init("envFrom: [{secretRef: {name: a}}]"), "10: spec.initContainers[0].envFrom[0].secretRef: static pods may not reference secrets"},
		{"a secret as a volume", volume("secret: {secretName: a}"), "10: spec.volumes[0].secret: static pods may not reference secrets"},
		{"a config map as a volume", volume("configMap: {name: a}"), "10: spec.volumes[0].configMap: static pods may not reference configmaps"},
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
		{"a projected secret", projected("secret: {}"), "10: spec.volumes[0].projected.sources[0].secret: static pods may not reference secrets"},
		{"a projected config map", projected("configMap: {}"), "10: spec.volumes[0].projected.sources[0].configMap: static pods may not reference configmaps"},
		{"a token", projected("serviceAccountToken: {}"), "10: spec.volumes[0].projected.sources[0].serviceAccountToken: static pods may not reference serviceaccounts (via projected volumes)"},
		{"a trust bundle", projected("clusterTrustBundle: {}"), "10: spec.volumes[0].projected.sources[0].clusterTrustBundle: static pods may not reference clustertrustbundles"},
		{"a certificate", projected("podCertificate: {}"), "10: spec.volumes[0].projected.sources[0].podCertificate: static pods may not reference podcertificates"},
		{"nothing of the API", projected("downwardAPI: {}"), "10: spec.volumes[0].projected: not supported by this version yet"},
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
