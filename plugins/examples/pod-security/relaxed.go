package main

import "github.com/wardlet/wardlet/plugins/sdk"

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
