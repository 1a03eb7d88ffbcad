// Go asks for the body of every function unless the package has an assembly
// file: the functions in kubectl_test.go have theirs elsewhere.
