// Command testbox is all that the test image holds: one static binary whose subcommands behave in the ways that tests
// and the demo need of a container. A subcommand goes in; an exit code, lines on standard output and HTTP answers come
// out. Only serve has a second goroutine, its HTTP server's, which it waits for.
package main
