package main

import "github.com/wardlet/wardlet/plugins/sdk"

// Fields with which a pod uses parts of the host.
var (
	hostNetwork = sdk.Object("spec.hostNetwork")
	hostPID     = sdk.Object("spec.hostPID")
	hostIPC     = sdk.Object("spec.hostIPC")
	// ports is lazy, because a container may have thousands of ports.
	ports = sdk.Object("spec.@containers[*].ports[*].hostPort").Lazy()

	podHostProcess = sdk.Object("spec.securityContext.windowsOptions.hostProcess")
	hostProcess    = sdk.Object("spec.@containers[*].securityContext.windowsOptions.hostProcess")
)

func hostNamespaces(r *report) {
	for _, n := range [...]struct {
		used bool
		said string
	}{
		{hostNetwork.Bool(), "hostNetwork is true"},
		{hostPID.Bool(), "hostPID is true"},
		{hostIPC.Bool(), "hostIPC is true"},
	} {
		if n.used {
			r.part(n.said)
		}
	}
}

func hostPorts(r *report) {
	i := 0
	for of := range ports.Elements() {
		for port := range of.Elements() {
			if number := port.Int(); number != 0 && r.container(i) {
				r.add(": ")
				r.text.AddInt(number)
			}
		}
		i++
	}
}

func hostProcesses(r *report) {
	if podHostProcess.Bool() {
		r.pod()
	}
	r.wherever(hostProcess, true)
}

// wherever reports the containers whose field, a bool, has the given value. A missing field
// is neither true nor false.
func (r *report) wherever(field *sdk.Field, is bool) {
	i := 0
	for v := range field.Elements() {
		if v.Exists() && v.Bool() == is {
			r.container(i)
		}
		i++
	}
}
