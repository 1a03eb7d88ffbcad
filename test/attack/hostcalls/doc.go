// Command hostcalls measures the functions that the host offers to plugins, and fails where one costs more than it
// takes fuel for, or where another tenant's pods wait for it.
//
// calls.go lists the calls: every function of wardlet1 and of WASI, with the inputs that cost the host most. price.go
// measures what each takes of the processor for a billed unit. beside.go has two tenants make the
// same calls, in plugins of a whole decision plane, and measures how long a third tenant waits for verdicts.
package main
