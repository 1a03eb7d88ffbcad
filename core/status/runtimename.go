package status

// RuntimeName is the scheme of container IDs.
const RuntimeName = "containerd"
