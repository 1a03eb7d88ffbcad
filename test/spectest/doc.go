// Package spectest runs the WebAssembly specification tests on wazero, with
// modules as they are or changed by a transform such as the meter, and compares
// two runs command by command.
//
// Comes in: a folder of wast2json scripts with their modules, and a Config
// (Run, RunFile). Goes out: a Result, with what every command gave in a text
// that two runs can be compared by, and whether that is what the specification
// asks for (Result.Faults); and the differences of two Results (Compare).
//
// The package owns no goroutine. Each script gets a runtime of its own, so
// scripts may be run from any number of goroutines at once.
//
// What counts: a command "module" is a module, a command whose name begins with
// "assert_" is an assertion. "action" and "register" are run and compared too,
// and counted as neither. Modules in the text format (assert_malformed with
// module_type "text") are counted as assertions, but nothing runs them: neither
// wazero nor the meter reads that format. Result.Text says how many they are.
//
// What is not compared: tables, and the upper half of v128 globals, cannot be
// read through wazero's API (Result.Halves names these globals; no assertion
// reads one). What a function reference refers to is not compared either, only
// whether it is null. Results, memories and the other globals are compared bit
// by bit, except results of which a script only says what class of NaN they are.
//
// Where wazero does other than the specification asks for, the outcome says so
// (Result.Deviations), and must still be the same in every run.
package spectest
