// Package rule is the common part of the Go guests of the bench: the rule that every side follows,
// on texts that the guests read in different ways.
//
// A pod is allowed if it has two labels; if the image of each container comes from one registry,
// and has a digest or a tag other than latest; and if no container is privileged or may become
// privileged, and each says that it does not run as root.
//
// Comes in: texts and flags of one pod. Goes out: how the pod breaks the rule. It runs on the
// guest's one goroutine.
package rule
