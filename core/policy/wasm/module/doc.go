// Package module reads the binary format of WebAssembly modules.
//
// Input: the bytes of a module, which are not trusted. Output: the content of its
// sections (Parse), and the instructions of its functions one by one (Code). The
// package starts no goroutine and does not depend on policies: it refuses malformed
// modules only. Package verify refuses others, and package meter adds to modules.
//
// No allocation depends on a size that a module declares, only on the number of its
// bytes. Every index is checked against what the module defines, because a
// rewritten module defines more: what was invalid must not become valid. Types are
// not checked; the compiler does that.
package module
