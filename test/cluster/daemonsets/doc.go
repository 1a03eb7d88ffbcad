// Package daemonsets reads the manifests of widely used DaemonSets and Deployments, replaces their
// images by stand-ins, and compares what each stand-in found in its container with the pod and the
// objects.
//
// Its inputs are directories of manifests, and later pods with the logs of their containers. Its
// outputs are the same objects with the changes of rewrite.go, or their pods as static pods with
// the changes of static.go, and errors that name the differences in a container. The stand-in is a
// part of the test image (tools/images/testbox/standin.go).
package daemonsets
