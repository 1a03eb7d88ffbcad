package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/quantity"
)

// The resources that a quota may bound. The first ones are what containers
// request.
const (
	cpu = iota
	memory
	// pod is their number.
	pod
	resources
)

var resourceNames = [resources]string{"cpu", "memory", "pods"}

// amounts are how much of each resource.
type amounts [resources]quantity.Milli

// one is what a pod counts as a pod.
const one quantity.Milli = 1000

func (a *amounts) add(b *amounts) {
	for r := range a {
		a[r] = a[r].Plus(b[r])
	}
}

// write adds an amount of a resource to a text, and what follows it.
func write(t *sdk.Text, resource int, amount quantity.Milli, more string) {
	if resource == memory {
		amount.WriteBinary(t)
	} else {
		amount.Write(t)
	}
	t.Add(more)
}
