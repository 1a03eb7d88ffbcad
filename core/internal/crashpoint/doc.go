// Package crashpoint names the places at which tests kill the process, to check that the next
// process continues from there.
//
// In an ordinary build, Reached does nothing. With the build tag crashpoints, the process kills
// itself without cleanup at the point that is currently named in the file of the environment
// variable WARDLET_CRASH_FILE. The package owns no goroutine.
package crashpoint
