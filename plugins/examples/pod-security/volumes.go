package main

import "github.com/wardlet/wardlet/plugins/sdk"

var (
	hostPathSet = sdk.Object("spec.volumes[*].hostPath.path")
	volumeNames = sdk.Object("spec.volumes[*].name")
	// volumes is for what a volume is made of. A path can ask for a type, but for
	// every type there is a path of its own.
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

// nothing is the type of a volume that has none this plugin can see.
const nothing = "unknown"

// volumeType is empty for a volume of an allowed type, and else the type.
func volumeType(volume []byte) string {
	found := nothing
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
