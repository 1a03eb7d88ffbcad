// Go asks for the body of every function unless the package has an assembly
// file: the kubelet's functions in kubelet_test.go have theirs elsewhere.
