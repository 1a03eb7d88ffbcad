// Package reference compares Wardlet's parser of image references with the package that containerd
// and a kubelet use.
package reference
