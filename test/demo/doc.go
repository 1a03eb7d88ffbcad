// Command demo shows what Wardlet does, on a real container runtime of its own; `make demo` runs it as root. Each step is
// announced in one line, done, and then looked for until it was observed: in what `wardlet get` prints, in what the
// runtime says of its containers, in the answers of pods over HTTP. Nothing is printed that was not observed.
//
// In come the wardlet program and the policies `make plugins` built; out comes less than a screen of text, and exit
// status 0 only if every step was observed and all that was made is gone again. A step that is not observed in time,
// SIGINT, SIGTERM, SIGHUP or a reader that went away end it with status 1, after the same clean-up; further signals do
// not cut that short. Several can run at once.
//
// The main goroutine does everything; package harness owns the one that waits for the agent's process.
package main
