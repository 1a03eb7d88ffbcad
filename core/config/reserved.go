package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/wardlet/wardlet/core/strict"
)

// reservable are the resources of which a node can reserve an amount.
const reservable = "cpu, memory, ephemeral-storage or pid"

// pidResource is the name of process IDs in reservations, as in a kubelet's.
const pidResource = "pid"

// Reserved returns what SystemReserved and KubeReserved reserve together. pids is the number of
// process IDs.
func (n *Node) Reserved() (reserved v1.ResourceList, pids int64) {
	reserved = v1.ResourceList{}
	for _, text := range slices.Concat(n.SystemReserved, n.KubeReserved) {
		name, amount, err := parseReserved(text)
		switch {
		case err != nil: // check reports it
		case name == pidResource:
			pids += amount.Value()
		default:
			sum := reserved[v1.ResourceName(name)]
			sum.Add(amount)
			reserved[v1.ResourceName(name)] = sum
		}
	}
	return reserved, pids
}

// ReservedMap returns the quantities of a reservation by the names of their resources.
func ReservedMap(texts []string) map[string]string {
	m := map[string]string{}
	for _, text := range texts {
		name, quantity, _ := strings.Cut(text, "=")
		m[name] = quantity
	}
	return m
}

// PodPIDs returns the maximum number of processes of a pod, 0 for no limit.
func (n *Node) PodPIDs() int64 { return max(n.PodPIDsLimit, 0) }

func (n *Node) checkReserved(report strict.Report, eachOnce func(key string, texts []string, parse func(string) (id string, err error))) {
	parse := func(text string) (string, error) {
		name, _, err := parseReserved(text)
		return name, err
	}
	eachOnce("system_reserved", n.SystemReserved, parse)
	eachOnce("kube_reserved", n.KubeReserved, parse)
	if n.PodPIDsLimit == 0 || n.PodPIDsLimit < -1 {
		report("node.pod_pids_limit", "want 1 or more processes, or -1 for no limit, found %d", n.PodPIDsLimit)
	}
}

func parseReserved(text string) (name string, amount resource.Quantity, err error) {
	name, quantity, ok := strings.Cut(text, "=")
	amount, quantityErr := resource.ParseQuantity(quantity)
	if !ok || quantityErr != nil || amount.Sign() < 0 {
		return name, amount, errors.New(`want NAME=QUANTITY of a resource, for example "memory=500Mi"`)
	}
	switch name {
	case string(v1.ResourceCPU), string(v1.ResourceMemory), string(v1.ResourceEphemeralStorage), pidResource:
		return name, amount, nil
	}
	return name, amount, fmt.Errorf("%s cannot be reserved: want %s", name, reservable)
}
