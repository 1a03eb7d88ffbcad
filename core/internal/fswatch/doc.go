// Package fswatch tells when files may have changed, and when they have stood still for
// long enough to be read.
//
// Comes in: directories, the kernel's events about them, what a look at the files showed.
// Goes out: the events; whether files are what they were (Stamp); whether they stand
// still (Settle). A watch that fails is no error of its user, who looks now and then in
// any case; Watch.Failed says when there is something to log.
//
// The one goroutine is the backend's, which ends with Watch.Close. A Watch and a Settle
// belong to one goroutine of their user.
package fswatch
