package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
)

// level is a level of the Pod Security Standards.
type level int

const (
	privileged level = iota
	baseline
	restricted
	levels
)

var levelNames = [levels]string{"privileged", "baseline", "restricted"}

// The standards have a version for each version of Kubernetes. newest is the last minor
// version that changed the standards; later versions are the same.
const (
	latest = "latest"
	newest = 35
)

// profile is a level of the standards in one version.
type profile struct {
	level level
	// minor is the minor version.
	minor int
	// checks are the checks of this profile; privileged has none.
	checks []*check
	// code is the code of a denial. violated is the beginning of its message. kept is the
	// explanation if no check is violated.
	code, violated, kept string
}

func newProfile(l level, minor int, version string) *profile {
	name := `"` + levelNames[l] + ":" + version + `"`
	p := &profile{level: l, minor: min(minor, newest), violated: "violates PodSecurity " + name + ": ", kept: "keeps to PodSecurity " + name}
	switch l {
	case baseline:
		p.code = "PodSecurityBaseline"
	case restricted:
		p.code = "PodSecurityRestricted"
	}
	for i := range checks {
		if c := &checks[i]; c.in[l].has(p.minor) {
			p.checks = append(p.checks, c)
		}
	}
	return p
}

// versions is a range of minor versions. It includes from, but not before.
type versions struct{ from, before int }

func (v versions) has(minor int) bool { return v.from <= minor && minor < v.before }

var (
	always = versions{0, newest + 1}
	never  versions
)

func since(minor int) versions  { return versions{minor, newest + 1} }
func before(minor int) versions { return versions{0, minor} }

var (
	system    = sdk.Object("spec.os.name")
	hostUsers = sdk.Object("spec.hostUsers")
)

// ofWindows reports whether the pod runs on Windows and so need not set fields of Linux.
// This rule exists since 1.25.
func (r *report) ofWindows() bool { return r.profile.minor >= 25 && system.String() == "windows" }

// ownUsers reports whether the pod has a user namespace of its own, in which it may run as
// root. This rule exists since 1.35.
func (r *report) ownUsers() bool {
	return r.profile.minor >= 35 && hostUsers.Exists() && !hostUsers.Bool()
}
