// Go asks for the body of every function unless the package has an assembly
// file: the passes in passes_test.go have theirs elsewhere.
