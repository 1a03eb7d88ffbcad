// Package seededfault is the switch by which tests make a package wrong on purpose,
// in one way at a time, to show that they would find it.
//
// Comes in: a package's own tables of faults, by name; what a fault is, is that
// package's affair. Goes out: the fault that is switched on, to the places that ask.
//
// The switch is there only with the build tag seededfaults, as are the tables. An
// ordinary build has nothing of it but this text, and a file of such a build that
// asked for a fault would not compile. The package owns no goroutine.
package seededfault
