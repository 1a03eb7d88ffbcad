// Command hostcalls measures the functions that the host offers to plugins. It fails if a function
// costs more than the fuel that it charges, or if another tenant's pods have to wait for it.
//
// calls.go lists the calls: every function of wardlet1 and of WASI, with the inputs that cost the
// host most. price.go measures the processor time of each per billed unit. In beside.go, two
// tenants make the same calls, in plugins of a whole decision plane, while a third tenant's wait
// for verdicts is measured.
package main
