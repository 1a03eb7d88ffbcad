// Package spectest runs the WebAssembly specification tests on wazero, with modules that are
// unchanged or changed by a transform such as the meter, and compares two runs command by command.
//
// Comes in: a folder of wast2json scripts with their modules, and a Config (Run, RunFile). Goes
// out: a Result, and the differences between two Results (Compare). A Result has the outcome of
// every command as a text by which two runs can be compared, and whether the outcome is what the
// specification requires (Result.Faults).
//
// The package owns no goroutine. Each script gets a runtime of its own, so scripts may be run from
// any number of goroutines at once.
//
// A command "module" counts as a module, and a command whose name begins with "assert_" as an
// assertion. "action" and "register" are run and compared, too, but counted as neither. Modules in
// the text format (assert_malformed with module_type "text") are counted as assertions but not run,
// because neither wazero nor the meter reads that format. Result.Text is their number.
//
// Tables and the upper half of v128 globals are not compared, because they cannot be read through
// wazero's API (Result.Halves names these globals; no assertion reads one). The target of a
// function reference is not compared either, only whether it is null. Results, memories and the
// other globals are compared bit by bit, except results for which a script names only the class of
// NaN.
//
// If wazero deviates from the specification, the outcome says so (Result.Deviations), and must
// still be the same in every run.
package spectest
