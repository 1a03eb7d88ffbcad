// Package crashpoint names the places at which tests end the process, to see that
// the next one goes on from there.
//
// An ordinary build has none of it: Reached does nothing. In one with the build
// tag crashpoints the process kills itself, without any farewell, at the point that
// the file named by the environment variable WARDLET_CRASH_FILE holds just then.
// The package owns no goroutine.
package crashpoint
