// Go asks for the body of every function unless the package has an assembly
// file: the kubelet's constructor in theirs_test.go has its body elsewhere.
