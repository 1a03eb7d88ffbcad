// Package compile turns modules into machine code without putting the agent at
// risk: a few kilobytes of WebAssembly can keep a compiler busy for minutes and
// take gigabytes.
//
// Comes in: modules, already verified and metered, or their digests and who has
// them, each with the tenant that waits for it (Library.Acquire). Goes out: compiled code, one piece for each
// module however many use it, or a Refused that says why there is none.
//
// A module is compiled by a child: this executable, started again, which calls
// Child first of all. It has limits on memory, processor time and the size of
// what it makes, the lowest priority there is, no files but three pipes, and
// no environment; it is killed when it takes too long, when the caller's
// context ends, when others wait for its place, and with the agent. It also loads what it made, once, so that
// how much that takes is known before the agent does it. What it made is moved
// into the cache as a whole.
//
// Each owner has at most one child, and two run at once. The owner whose children
// have taken the least of a processor lately comes first, and the operator before
// all. Where others wait, the child of the owner that has taken the most makes room
// for one that has taken much less, and its module is compiled anew later. Of two
// that are compiled anew one is compiled to its end. All that children take is their
// owner's (Spent).
//
// The agent itself loads what is cached and never compiles: it calls wazero
// with a context that has ended, which wazero looks at before it compiles a
// function, but not when it finds code. It passes the module's shell, which
// has no code of its own, and files that it has checked and keeps open. What is torn or missing is compiled again by a child, once.
//
// What wazero has read it keeps in memory of its own. The agent then maps a file
// that holds the same code, its image, in that place: so the kernel can take pages
// away, and Code.Rest releases them while no instance runs the code.
//
// Processor time and memory decide on a module, never the clock: a try that takes
// too long by the clock is given up without a verdict.
//
// A module that is at fault is remembered on the disk and refused at once, also
// after a restart, until Forget or other terms. Failures of the machine are
// not: no memory for a process, a child that another process killed, a full disk, the
// end of the agent, no thread for the child, a node so busy that the time was over. A disk that cannot be written to costs a
// warning: code and refusals are kept in memory then.
//
// Where wazero has no compiler, or Options wants none, there is no code to keep:
// modules are interpreted. The child prepares the module for wazero's
// interpreter, within the same limits, to see that it can be done, and leaves an
// entry without files, which counts only under the same terms. The agent does
// the same after it, and after a restart again.
//
// It needs Linux, with /proc mounted.
//
// The package owns no goroutine. A Cache and a Library may be used from any;
// a child is started and waited for on the goroutine of the caller whose turn
// it is.
package compile
