package manifest

// referenceCases are the API objects a static pod may not ask for, as a
// kubelet calls them, and a field that does.
var referenceCases = []struct {
	object, path, value string
	with                [][2]string
}{
	{"serviceaccounts", "spec.serviceAccountName", "robot", nil},
	{"serviceaccounts", "spec.serviceAccount", "robot", nil},
	{"secrets", "spec.imagePullSecrets", "[{name: a}]", nil},
	{"secrets", "spec.containers[0].envFrom", "[{secretRef: {name: a}}]", nil},
	{"secrets", "spec.containers[0].env", "[{name: A, valueFrom: {secretKeyRef: {name: a, key: b}}}]", nil},
	{"secrets", "spec.initContainers", "[{name: init, image: i, envFrom: [{secretRef: {name: a}}]}]", nil},
	{"secrets", "spec.initContainers", "[{name: init, image: i, env: [{name: A, valueFrom: {secretKeyRef: {name: a, key: b}}}]}]", nil},
	{"secrets", "spec.volumes[3].secret", "{secretName: a}", nil},
	{"secrets", "spec.volumes[3].projected", "{sources: [{secret: {name: a}}]}", nil},
	{"secrets", "spec.volumes[3].azureFile", "{secretName: a, shareName: b}", nil},
	{"secrets", "spec.volumes[3].cephfs", "{monitors: [a], secretRef: {name: b}}", nil},
	{"secrets", "spec.volumes[3].cinder", "{volumeID: a, secretRef: {name: b}}", nil},
	{"secrets", "spec.volumes[3].flexVolume", "{driver: a/b, secretRef: {name: b}}", nil},
	{"secrets", "spec.volumes[3].iscsi", "{targetPortal: a, iqn: iqn.2001-04.com.example:a, lun: 0, secretRef: {name: b}}", nil},
	{"secrets", "spec.volumes[3].rbd", "{monitors: [a], image: b, secretRef: {name: b}}", nil},
	{"secrets", "spec.volumes[3].scaleIO", "{gateway: a, system: b, volumeName: c, secretRef: {name: b}}", nil},
	{"secrets", "spec.volumes[3].storageos", "{volumeName: a, secretRef: {name: b}}", nil},
	{"secrets", "spec.volumes[3].csi", "{driver: a.b, nodePublishSecretRef: {name: b}}", nil},
	{"configmaps", "spec.containers[0].envFrom", "[{configMapRef: {name: a}}]", nil},
	{"configmaps", "spec.containers[0].env", "[{name: A, valueFrom: {configMapKeyRef: {name: a, key: b}}}]", nil},
	{"configmaps", "spec.volumes[3].configMap", "{name: a}", nil},
	{"configmaps", "spec.volumes[3].projected", "{sources: [{configMap: {name: a}}]}", nil},
	{"resourceclaims", "spec.resourceClaims", "[{name: a, resourceClaimName: b}]", nil},
	{"resourceclaims", "spec.resourceClaims", "[{name: a, resourceClaimTemplateName: b}]", nil},
	{"persistentvolumeclaims", "spec.volumes[3].persistentVolumeClaim", "{claimName: a}", nil},
	{
		"persistentvolumeclaims (via ephemeral volumes)", "spec.volumes[3].ephemeral",
		"{volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}", nil,
	},
	{"csidrivers (via CSI volumes)", "spec.volumes[3].csi", "{driver: a.b}", nil},
	{"endpoints (via glusterFS volumes)", "spec.volumes[3].glusterfs", "{endpoints: a, path: b}", nil},
	{
		"serviceaccounts", "spec.volumes[3].projected", "{sources: [{serviceAccountToken: {path: a, expirationSeconds: 3600}}]}",
		[][2]string{{"spec.serviceAccountName", "robot"}},
	},
	{"clustertrustbundles", "spec.volumes[3].projected", "{sources: [{clusterTrustBundle: {name: a, path: b}}]}", nil},
	{"podcertificates", "spec.volumes[3].projected", "{sources: [{podCertificate: {signerName: a.b/c, keyType: ED25519, credentialBundlePath: d}}]}", nil},
}
