package main

import "github.com/wardlet/wardlet/plugins/sdk"

var (
	hostPathSet = sdk.Object("spec.volumes[*].hostPath.path")
	volumeNames = sdk.Object("spec.volumes[*].name")
	// volumes has the volumes as JSON, to find their types. Paths cannot be used instead,
	// because each type would need a path of its own.
	volumes = sdk.Object("spec.volumes").Lazy()
)

func hostPaths(r *report) {
	for name, path := range sdk.Zip(volumeNames, hostPathSet) {
		if path.Exists() && r.offender() {
			r.name("volume", name.String())
		}
	}
}

func volumeTypes(r *report) {
	if volumeNames.Len() == 0 {
		return
	}
	i := 0
	for v := range volumes.Elements() {
		if found := volumeType(v.JSON()); found != "" && r.offender() {
			r.name("volume", volumeNames.At(i).String())
			r.set(found)
		}
		i++
	}
}

// unknownType is the type that is reported for a volume whose type this plugin cannot find.
const unknownType = "unknown"

// volumeType returns the type of a volume, or an empty text if the type is allowed.
func volumeType(volume []byte) string {
	found := unknownType
	k := keys{text: volume}
	for key := k.next(); key != ""; key = k.next() {
		switch key {
		case "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret":
			return ""
		case "name":
		default:
			found = key
		}
	}
	return found
}
