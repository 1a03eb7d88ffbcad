// Package fswatch reports when files may have changed, and when they have been unchanged for long
// enough to be read.
//
// Comes in: directories, the kernel's events about them, and the results of checks of the files.
// Goes out: the events; whether files are unchanged (Stamp); whether they are stable (Settle). A
// failed watch is no error, because users also check the files at intervals; Watch.Failed reports
// when to log a failure.
//
// The backend has the only goroutine, which ends with Watch.Close. A Watch and a Settle may be used
// by one goroutine only.
package fswatch
