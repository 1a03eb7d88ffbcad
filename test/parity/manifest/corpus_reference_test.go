package manifest

// referenceCases are the API objects that no static pod may reference, as a kubelet calls them,
// with a field that references each. objectCases has the objects that a node may have without an
// API server.
var referenceCases = []struct {
	object, path, value string
	with                [][2]string
}{
	{"serviceaccounts", "spec.serviceAccountName", "robot", nil},
	{"serviceaccounts", "spec.serviceAccount", "robot", nil},
	{"secrets", "spec.volumes[3].azureFile", "{secretName: a, shareName: b}", nil},
	{"secrets", "spec.volumes[3].cephfs", "{monitors: [a], secretRef: {name: b}}", nil},
	{"secrets", "spec.volumes[3].cinder", "{volumeID: a, secretRef: {name: b}}", nil},
	{"secrets", "spec.volumes[3].flexVolume", "{driver: a/b, secretRef: {name: b}}", nil},
	{"secrets", "spec.volumes[3].iscsi", "{targetPortal: a, iqn: iqn.2001-04.com.example:a, lun: 0, secretRef: {name: b}}", nil},
	{"secrets", "spec.volumes[3].rbd", "{monitors: [a], image: b, secretRef: {name: b}}", nil},
	{"secrets", "spec.volumes[3].scaleIO", "{gateway: a, system: b, volumeName: c, secretRef: {name: b}}", nil},
	{"secrets", "spec.volumes[3].storageos", "{volumeName: a, secretRef: {name: b}}", nil},
	{"secrets", "spec.volumes[3].csi", "{driver: a.b, nodePublishSecretRef: {name: b}}", nil},
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
