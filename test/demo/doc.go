// Command demo shows what Wardlet does, on a real container runtime of its own; `make demo` runs it
// as root. Each step is announced in one line and done. Then the demo waits until it has observed
// the result: in the output of `wardlet get`, in the containers that the runtime lists, or in the
// answers of pods over HTTP. It prints nothing that it has not observed.
//
// Its inputs are the wardlet program and the policies that `make plugins` built. Its outputs are
// less than a screen of text, and exit status 0 only if every step was observed and everything that
// was made is removed again. A step that is not observed in time, SIGINT, SIGTERM, SIGHUP or a
// closed output pipe end the demo with status 1, after the same clean-up. Further signals do
// not shorten the clean-up. Several demos can run at once.
//
// The main goroutine does everything; package harness owns the goroutine that waits for the agent's
// process.
package main
