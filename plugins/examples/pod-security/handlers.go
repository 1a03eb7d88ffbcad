package main

import "github.com/wardlet/wardlet/plugins/sdk"

// handlers are all handlers that can send requests to a host that the pod names.
var handlers = [...]struct {
	name string
	host *sdk.Field
}{
	handler("livenessProbe.httpGet.host"),
	handler("livenessProbe.tcpSocket.host"),
	handler("readinessProbe.httpGet.host"),
	handler("readinessProbe.tcpSocket.host"),
	handler("startupProbe.httpGet.host"),
	handler("startupProbe.tcpSocket.host"),
	handler("lifecycle.postStart.httpGet.host"),
	handler("lifecycle.postStart.tcpSocket.host"),
	handler("lifecycle.preStop.httpGet.host"),
	handler("lifecycle.preStop.tcpSocket.host"),
}

func handler(path string) (h struct {
	name string
	host *sdk.Field
},
) {
	h.name, h.host = path, sdk.Object("spec.@containers[*]."+path)
	return h
}

func handlerHosts(r *report) {
	for n := range handlers {
		h := &handlers[n]
		i := 0
		for host := range h.host.Elements() {
			if host.String() != "" && r.container(i) {
				r.add(" ", h.name)
				r.set(host.String())
			}
			i++
		}
	}
}
