// Package rule is what the Go guests of the bench have in common: the rule
// that every side of it follows, on texts that a guest has got one way or
// another.
//
// A pod is allowed if it bears two labels; if the image of each container
// comes from one registry, and has a digest or a tag other than latest; and if
// no container is privileged or may become it, and each says that it does not
// run as root.
//
// Comes in: texts and flags of one pod. Goes out: what is wrong with it. It
// runs on the guest's one goroutine.
package rule
