package api

import (
	"runtime"
	"runtime/debug"
)

// Version describes the program that answers.
type Version struct {
	// Version is the release, "devel" for a build without one.
	Version string `json:"version"`
	// Revision is the commit, empty if the build does not record it.
	Revision string `json:"revision,omitempty"`
	Go       string `json:"goVersion"`
	// Platform is the operating system and architecture, as in linux/amd64.
	Platform string `json:"platform"`
}

// NewVersion describes this program. If release is empty, the module's version is used.
func NewVersion(release string) Version {
	v := Version{Version: release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if v.Version == "" && info.Main.Version != "(devel)" {
			v.Version = info.Main.Version
		}
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				v.Revision = setting.Value
			}
		}
	}
	if v.Version == "" {
		v.Version = "devel"
	}
	return v
}
