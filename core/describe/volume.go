package describe

import (
	"cmp"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// volumes writes the volumes with their kinds and sources.
func (w *writer) volumes(all []v1.Volume) {
	if len(all) == 0 {
		w.row(0, "Volumes:", none)
		return
	}
	w.row(0, "Volumes:")
	for i := range all {
		v := &all[i]
		w.row(1, v.Name+":")
		kind, fields := volumeFields(&v.VolumeSource)
		if kind == "" {
			kind, fields = oldVolumeFields(&v.VolumeSource)
		}
		if kind == "" {
			w.row(1, "<unknown>")
			continue
		}
		w.row(2, "Type:", kind)
		for i := 0; i+1 < len(fields); i += 2 {
			w.row(2, fields[i], fields[i+1])
		}
		w.volumeRest(&v.VolumeSource)
	}
}

// volumeFields returns the kind of a volume and its fields, as alternating labels and values. The
// kind is empty for other volumes.
func volumeFields(s *v1.VolumeSource) (kind string, fields []any) {
	switch {
	case s.HostPath != nil:
		return "HostPath (bare host directory volume)", []any{"Path:", s.HostPath.Path, "HostPathType:", or(s.HostPath.Type, none)}
	case s.EmptyDir != nil:
		size := "<unset>"
		if limit := s.EmptyDir.SizeLimit; limit != nil && limit.Sign() > 0 {
			size = limit.String()
		}
		return "EmptyDir (a temporary directory that shares a pod's lifetime)", []any{"Medium:", s.EmptyDir.Medium, "SizeLimit:", size}
	case s.Secret != nil:
		return "Secret (a volume populated by a Secret)", []any{"SecretName:", s.Secret.SecretName, "Optional:", isSet(s.Secret.Optional)}
	case s.ConfigMap != nil:
		return "ConfigMap (a volume populated by a ConfigMap)", []any{"Name:", s.ConfigMap.Name, "Optional:", isSet(s.ConfigMap.Optional)}
	case s.PersistentVolumeClaim != nil:
		return "PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
			[]any{"ClaimName:", s.PersistentVolumeClaim.ClaimName, "ReadOnly:", s.PersistentVolumeClaim.ReadOnly}
	case s.Ephemeral != nil:
		return "EphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)", nil
	case s.DownwardAPI != nil:
		return "DownwardAPI (a volume populated by information about the pod)", nil
	case s.Projected != nil:
		return "Projected (a volume that contains injected data from multiple sources)", projectedFields(s.Projected)
	case s.CSI != nil:
		return "CSI (a Container Storage Interface (CSI) volume source)",
			[]any{"Driver:", s.CSI.Driver, "FSType:", or(s.CSI.FSType, ""), "ReadOnly:", isSet(s.CSI.ReadOnly)}
	case s.Image != nil:
		return "Image (a container image or OCI artifact)", []any{"Reference:", s.Image.Reference, "PullPolicy:", s.Image.PullPolicy}
	case s.NFS != nil:
		return "NFS (an NFS mount that lasts the lifetime of a pod)", []any{"Server:", s.NFS.Server, "Path:", s.NFS.Path, "ReadOnly:", s.NFS.ReadOnly}
	case s.ISCSI != nil:
		i := s.ISCSI
		return "ISCSI (an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the pod)", []any{
			"TargetPortal:", i.TargetPortal, "IQN:", i.IQN, "Lun:", i.Lun, "ISCSIInterface", i.ISCSIInterface, "FSType:", i.FSType, "ReadOnly:", i.ReadOnly,
			"Portals:", i.Portals, "DiscoveryCHAPAuth:", i.DiscoveryCHAPAuth, "SessionCHAPAuth:", i.SessionCHAPAuth, "SecretRef:", i.SecretRef,
			"InitiatorName:", or(i.InitiatorName, none),
		}
	case s.FC != nil:
		return "FC (a Fibre Channel disk)",
			[]any{"TargetWWNs:", strings.Join(s.FC.TargetWWNs, ", "), "LUN:", or(s.FC.Lun, none), "FSType:", s.FC.FSType, "ReadOnly:", s.FC.ReadOnly}
	}
	return "", nil
}

// projectedFields returns the fields of the parts of a projected volume.
func projectedFields(p *v1.ProjectedVolumeSource) (fields []any) {
	for i := range p.Sources {
		switch s := &p.Sources[i]; {
		case s.Secret != nil:
			fields = append(fields, "SecretName:", s.Secret.Name, "Optional:", isSet(s.Secret.Optional))
		case s.DownwardAPI != nil:
			fields = append(fields, "DownwardAPI:", true)
		case s.ConfigMap != nil:
			fields = append(fields, "ConfigMapName:", s.ConfigMap.Name, "Optional:", isSet(s.ConfigMap.Optional))
		case s.ServiceAccountToken != nil:
			fields = append(fields, "TokenExpirationSeconds:", or(s.ServiceAccountToken.ExpirationSeconds, none))
		}
	}
	return fields
}

// volumeRest writes the fields of a volume that need more than one line.
func (w *writer) volumeRest(s *v1.VolumeSource) {
	switch {
	case s.CSI != nil:
		var attributes []string
		for _, line := range pairs(s.CSI.VolumeAttributes) {
			attributes = append(attributes, shorten(line, maxAnnotation))
		}
		w.list(2, "VolumeAttributes:", attributes)
	case s.DownwardAPI != nil:
		w.row(2, "Items:")
		for i := range s.DownwardAPI.Items {
			item := &s.DownwardAPI.Items[i]
			if item.FieldRef != nil {
				w.row(3, item.FieldRef.FieldPath+" -> "+item.Path)
			}
			if item.ResourceFieldRef != nil {
				w.row(3, item.ResourceFieldRef.Resource+" -> "+item.Path)
			}
		}
	case s.Ephemeral != nil && s.Ephemeral.VolumeClaimTemplate != nil:
		w.claim(s.Ephemeral.VolumeClaimTemplate)
	}
}

// claim writes the claim that an ephemeral volume creates.
func (w *writer) claim(c *v1.PersistentVolumeClaimTemplate) {
	w.row(2, "StorageClass:", cmp.Or(c.Annotations[v1.BetaStorageClassAnnotation], or(c.Spec.StorageClassName, "")))
	w.row(2, "Volume:", c.Spec.VolumeName)
	w.list(2, "Labels:", orNone(pairs(c.Labels)))
	w.list(2, "Annotations:", orNone(annotations(c.Annotations)))
	capacity := ""
	if c.Spec.VolumeName != "" {
		capacity = "0" // as kubectl shows a claim that does not exist yet
	}
	w.row(2, "Capacity:", capacity)
	w.row(2, "Access Modes:", "")
	if c.Spec.VolumeMode != nil {
		w.row(2, "VolumeMode:", *c.Spec.VolumeMode)
	}
	if from := c.Spec.DataSource; from != nil {
		w.row(2, "DataSource:")
		if from.APIGroup != nil {
			w.row(3, "APIGroup:", *from.APIGroup)
		}
		w.row(3, "Kind:", from.Kind)
		w.row(3, "Name:", from.Name)
	}
}

// orNone returns a list, or the placeholder for an empty one.
func orNone(list []string) []string {
	if len(list) == 0 {
		return []string{none}
	}
	return list
}
