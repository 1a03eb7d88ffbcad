// Package describe formats pods in the words of kubectl, for people: the row of `wardlet get pods`,
// why a container is not ready, and the output of `wardlet describe pod`.
//
// Comes in: a pod with its status, and events about it. Goes out: text. No text from a manifest
// looks like another line or controls the terminal. The package owns no goroutine.
package describe
