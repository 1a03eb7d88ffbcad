// Package describe compares `wardlet describe pod` and the rows of `wardlet get pods` with those of
// kubectl. Both get the same pods and statuses, and must print the same lines except for the
// differences that are listed here.
package describe
