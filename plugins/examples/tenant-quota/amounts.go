package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/quantity"
)

// The resources that a quota may limit. Containers request those before pod.
const (
	cpu = iota
	memory
	// pod is the number of pods.
	pod
	resources
)

var resourceNames = [resources]string{"cpu", "memory", "pods"}

// amounts has an amount of each resource.
type amounts [resources]quantity.Milli

// one is the amount of the resource pod that a pod uses: one, in thousandths.
const one quantity.Milli = 1000

func (a *amounts) add(b *amounts) {
	for r := range a {
		a[r] = a[r].Plus(b[r])
	}
}

// write adds an amount of a resource to a text, and the text more.
func write(t *sdk.Text, resource int, amount quantity.Milli, more string) {
	if resource == memory {
		amount.WriteBinary(t)
	} else {
		amount.Write(t)
	}
	t.Add(more)
}
