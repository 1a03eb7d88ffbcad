// Command testbox is the only program in the test image: a static binary whose subcommands behave
// as tests and the demo need. Its input is a subcommand. Its output is an exit code, lines on
// standard output, and HTTP answers. Only serve has a second goroutine, for its HTTP server, and
// waits for it.
package main
