package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
)

// level is one of those of the Pod Security Standards.
type level int

const (
	privileged level = iota
	baseline
	restricted
	levels
)

var levelNames = [levels]string{"privileged", "baseline", "restricted"}

// The standards have a version for each of Kubernetes; newest is the minor one
// that changed them last. What is said of it goes for all later ones.
const (
	latest = "latest"
	newest = 35
)

// profile is a level in a version.
type profile struct {
	level level
	// minor is that of the version.
	minor int
	// checks are those of the table that belong to it; privileged has none.
	checks []*check
	// code is the reason's, violated begins its message, and kept says that
	// there is none.
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

// versions are minor versions, the second one not among them.
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

// ofWindows: since 1.25 a pod of Windows need not set what only Linux has.
func (r *report) ofWindows() bool { return r.profile.minor >= 25 && system.String() == "windows" }

// ownUsers reports whether root is harmless: since 1.35 it is in a pod with a
// user namespace of its own.
func (r *report) ownUsers() bool {
	return r.profile.minor >= 35 && hostUsers.Exists() && !hostUsers.Bool()
}
