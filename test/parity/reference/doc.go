// Package reference compares how images are read here with the package by which
// containerd and a kubelet read them.
package reference
