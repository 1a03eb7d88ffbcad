// Package compile compiles modules to machine code without putting the agent at
// risk: a few kilobytes of WebAssembly can keep a compiler busy for minutes and
// take gigabytes.
//
// Inputs: modules that were verified and metered, or their digests with a function
// that returns the module, each with the tenant that waits for the code
// (Library.Acquire). Outputs: compiled code, which all users of a module share, or
// a Refused with the reason why there is none.
//
// A child process compiles a module. It runs the same executable, which calls Child
// before anything else. The child has limits on memory, processor time and the size
// of the code, the lowest priority, no files but three pipes, and no environment.
// It is killed when it takes too long, when the caller's context is done, when
// others wait for its place, and when the agent terminates. The child also loads
// the code once, so that the cost of loading is known before the agent loads it.
// Its files are then moved into the cache as a whole.
//
// Each owner has at most one child, and two children run at once. The owner whose children
// have used the least processor time lately comes first, and the operator before all
// others. If another owner waits that has used much less processor time, the child of the
// owner that has used the most is killed to make room. The module of the killed child is
// compiled again later. If both running children compile a module again, at least one of
// them is not killed. Each owner is charged for all processor time of its children (Spent).
//
// The agent itself loads cached code and never compiles. It calls wazero with a
// context that is done, which wazero checks before it compiles a function, but not
// when it finds code. The agent passes the module's shell, which has no code of its
// own, and files that it has checked and keeps open. If the code is damaged or
// missing, a child compiles it again, once.
//
// wazero reads the code into memory of its own. The agent then maps a file with the same
// code, its image, over that memory. So the kernel can reclaim the pages of the code, and
// Code.Trim releases these pages while no instance runs the code.
//
// Processor time and memory decide whether a module is refused. The clock never
// does: a compilation that takes too long by the clock is given up without a
// verdict.
//
// The refusal of a module that is at fault is stored on the disk. The module is
// then refused at once, even after a restart, until Forget or a change of terms.
// Failures of the machine are not stored: no memory for a process, a child that
// another process killed, a full disk, the end of the agent, no thread for the
// child, a node too busy to compile in time. If the disk cannot be written to, a
// warning is logged, and code and refusals are kept in memory.
//
// If wazero has no compiler, or Options sets Interpreted, there is no code to
// cache: modules are interpreted. The child prepares the module for wazero's
// interpreter within the same limits, to check that this is possible, and leaves an
// entry without files, which is valid only under the same terms. The agent then
// prepares the module, too, and again after each restart.
//
// The package needs Linux with /proc mounted.
//
// The package starts no goroutine. Cache and Library are safe for concurrent use. A
// child is started and waited for on the goroutine of the caller.
package compile
