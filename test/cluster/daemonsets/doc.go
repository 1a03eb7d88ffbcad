// Package daemonsets reads the manifests of DaemonSets and Deployments that people run, puts stand-ins in the place of
// their images, and compares what each stand-in found in its container with what the pod and the objects say.
//
// Comes in: directories of manifests, and after that pods with the logs of their containers. Goes out: the same objects
// with the changes of rewrite.go, or their pods as static pods with the changes of static.go, and errors that name what
// a container has otherwise than it should. The stand-in is a part of the test image (tools/images/testbox/standin.go).
package daemonsets
