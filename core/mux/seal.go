//go:build !race

package mux

import v1 "k8s.io/api/core/v1"

// seals do nothing in a build without the race detector; see seal_race.go.
type seals struct{}

func newSeals() *seals            { return nil }
func (*seals) put(*v1.Pod)        {}
func (*seals) drop(*v1.Pod) error { return nil }
func (*seals) check() error       { return nil }
