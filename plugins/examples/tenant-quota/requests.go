package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/quantity"
)

// The parts of a pod that request something: its containers, the pod as a whole, and its
// overhead.
const (
	containers = iota
	initContainers
	whole
	overhead
	parts
)

var (
	policies = sdk.Object("spec.initContainers[*].restartPolicy")
	// requests are the fields with the requests of each part of a pod, by resource.
	requests [pod][parts]*sdk.Field
)

func init() {
	paths := [parts]string{
		"spec.containers[*].resources.requests", "spec.initContainers[*].resources.requests", "spec.resources.requests", "spec.overhead",
	}
	for r := range requests {
		key := "['" + resourceNames[r] + "']"
		for part := range paths {
			requests[r][part] = sdk.Object(paths[part] + key)
		}
		podRequests[r] = sdk.Node("pods[*].requests" + key)
	}
}

// reader reads amounts.
type reader struct{ unread string }

// read parses an amount. A missing amount is 0. If a text is no amount, read stores it in
// unread.
func (r *reader) read(v sdk.Value) quantity.Milli {
	if !v.Exists() {
		return 0
	}
	amount, ok := quantity.Parse(v.String())
	if !ok {
		r.unread = v.String()
	}
	return amount
}

// always is the restart policy that makes an init container a sidecar.
const always = "Always"

// sum returns what a pod requests. The API counts in this way, and so does the agent for the pods on
// the node. It is the larger of two amounts: all containers together with the sidecars, or an init
// container with the sidecars that were started before it. If the pod as a whole has requests, these
// replace that amount. The overhead is added.
func (r *reader) sum(of *[parts]*sdk.Field) (sum quantity.Milli) {
	if whole := of[whole].Value(); whole.Exists() {
		sum = r.read(whole)
	} else {
		sum = r.together(of)
	}
	return sum.Plus(r.read(of[overhead].Value()))
}

// together returns what the containers request together.
func (r *reader) together(of *[parts]*sdk.Field) (sum quantity.Milli) {
	list := of[containers].Cursor()
	for element, ok := list.Next(); ok; element, ok = list.Next() {
		sum = sum.Plus(r.read(element))
	}
	var sidecars, peak quantity.Milli
	list, restart := of[initContainers].Cursor(), policies.Cursor()
	for element, ok := list.Next(); ok; element, ok = list.Next() {
		amount := r.read(element)
		peak = max(peak, sidecars.Plus(amount))
		if restart.Take().String() == always {
			sidecars = sidecars.Plus(amount)
			sum = sum.Plus(amount)
		}
	}
	return max(sum, peak)
}

// own returns what the judged pod requests.
func (r *reader) own() (all amounts) {
	all[pod] = one
	for resource := range requests {
		all[resource] = r.sum(&requests[resource])
	}
	return all
}
