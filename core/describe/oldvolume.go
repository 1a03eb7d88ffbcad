package describe

import v1 "k8s.io/api/core/v1"

// oldVolumeFields is volumeFields for the kinds of volumes that CSI drivers have replaced. No node
// supports them any more, but a pod with one is still described.
func oldVolumeFields(s *v1.VolumeSource) (kind string, fields []any) {
	switch {
	case s.GCEPersistentDisk != nil:
		d := s.GCEPersistentDisk
		return "GCEPersistentDisk (a Persistent Disk resource in Google Compute Engine)",
			[]any{"PDName:", d.PDName, "FSType:", d.FSType, "Partition:", d.Partition, "ReadOnly:", d.ReadOnly}
	case s.AWSElasticBlockStore != nil:
		d := s.AWSElasticBlockStore
		return "AWSElasticBlockStore (a Persistent Disk resource in AWS)",
			[]any{"VolumeID:", d.VolumeID, "FSType:", d.FSType, "Partition:", d.Partition, "ReadOnly:", d.ReadOnly}
	case s.GitRepo != nil:
		return "GitRepo (a volume that is pulled from git when the pod is created)", []any{"Repository:", s.GitRepo.Repository, "Revision:", s.GitRepo.Revision}
	case s.Glusterfs != nil:
		return "Glusterfs (a Glusterfs mount on the host that shares a pod's lifetime)",
			[]any{"EndpointsName:", s.Glusterfs.EndpointsName, "Path:", s.Glusterfs.Path, "ReadOnly:", s.Glusterfs.ReadOnly}
	case s.RBD != nil:
		d := s.RBD
		return "RBD (a Rados Block Device mount on the host that shares a pod's lifetime)", []any{
			"CephMonitors:", d.CephMonitors, "RBDImage:", d.RBDImage, "FSType:", d.FSType, "RBDPool:", d.RBDPool, "RadosUser:", d.RadosUser,
			"Keyring:", d.Keyring, "SecretRef:", d.SecretRef, "ReadOnly:", d.ReadOnly,
		}
	case s.Quobyte != nil:
		return "Quobyte (a Quobyte mount on the host that shares a pod's lifetime)",
			[]any{"Registry:", s.Quobyte.Registry, "Volume:", s.Quobyte.Volume, "ReadOnly:", s.Quobyte.ReadOnly}
	case s.AzureDisk != nil:
		d := s.AzureDisk
		return "AzureDisk (an Azure Data Disk mount on the host and bind mount to the pod)", []any{
			"DiskName:", d.DiskName, "DiskURI:", d.DataDiskURI, "Kind: ", or(d.Kind, ""), "FSType:", or(d.FSType, ""),
			"CachingMode:", or(d.CachingMode, ""), "ReadOnly:", isSet(d.ReadOnly),
		}
	case s.VsphereVolume != nil:
		d := s.VsphereVolume
		return "vSphereVolume (a Persistent Disk resource in vSphere)",
			[]any{"VolumePath:", d.VolumePath, "FSType:", d.FSType, "StoragePolicyName:", d.StoragePolicyName}
	case s.Cinder != nil:
		d := s.Cinder
		return "Cinder (a Persistent Disk resource in OpenStack)", []any{"VolumeID:", d.VolumeID, "FSType:", d.FSType, "ReadOnly:", d.ReadOnly, "SecretRef:", d.SecretRef}
	case s.PhotonPersistentDisk != nil:
		return "PhotonPersistentDisk (a Persistent Disk resource in photon platform)",
			[]any{"PdID:", s.PhotonPersistentDisk.PdID, "FSType:", s.PhotonPersistentDisk.FSType}
	case s.PortworxVolume != nil:
		return "PortworxVolume (a Portworx Volume resource)", []any{"VolumeID:", s.PortworxVolume.VolumeID}
	case s.ScaleIO != nil:
		d := s.ScaleIO
		return "ScaleIO (a persistent volume backed by a block device in ScaleIO)", []any{
			"Gateway:", d.Gateway, "System:", d.System, "Protection Domain:", d.ProtectionDomain, "Storage Pool:", d.StoragePool,
			"Storage Mode:", d.StorageMode, "VolumeName:", d.VolumeName, "FSType:", d.FSType, "ReadOnly:", d.ReadOnly,
		}
	case s.CephFS != nil:
		d := s.CephFS
		return "CephFS (a CephFS mount on the host that shares a pod's lifetime)", []any{
			"Monitors:", d.Monitors, "Path:", d.Path, "User:", d.User, "SecretFile:", d.SecretFile, "SecretRef:", d.SecretRef, "ReadOnly:", d.ReadOnly,
		}
	case s.StorageOS != nil:
		d := s.StorageOS
		return "StorageOS (a StorageOS Persistent Disk resource)",
			[]any{"VolumeName:", d.VolumeName, "VolumeNamespace:", d.VolumeNamespace, "FSType:", d.FSType, "ReadOnly:", d.ReadOnly}
	case s.AzureFile != nil:
		d := s.AzureFile
		return "AzureFile (an Azure File Service mount on the host and bind mount to the pod)",
			[]any{"SecretName:", d.SecretName, "ShareName:", d.ShareName, "ReadOnly:", d.ReadOnly}
	case s.FlexVolume != nil:
		d := s.FlexVolume
		return "FlexVolume (a generic volume resource that is provisioned/attached using an exec based plugin)",
			[]any{"Driver:", d.Driver, "FSType:", d.FSType, "SecretRef:", d.SecretRef, "ReadOnly:", d.ReadOnly, "Options:", d.Options}
	case s.Flocker != nil:
		return "Flocker (a Flocker volume mounted by the Flocker agent)", []any{"DatasetName:", s.Flocker.DatasetName, "DatasetUUID:", s.Flocker.DatasetUUID}
	}
	return "", nil
}
