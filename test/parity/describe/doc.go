// Package describe compares `wardlet describe pod` and the rows of `wardlet get pods` with those of kubectl: the same pods and
// statuses go to both, and their lines must be the same but for the differences that are listed here.
package describe
