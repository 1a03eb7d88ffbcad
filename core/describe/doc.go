// Package describe is pods in the words of kubectl, for people: the row of `wardlet get pods`, why a container is not
// ready, and what `wardlet describe pod` prints.
//
// Comes in: a pod with its status, and events about it. Goes out: text, in which nothing that a manifest chose looks like
// another line or steers a terminal. The package owns no goroutine.
package describe
