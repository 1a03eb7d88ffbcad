// Package image makes the images of containers present on the node.
//
// Input: a container and its pull policy, from workers; credentials, from a registry configuration
// file and credential provider plugins; the images to prepull. Output: CRI calls through the
// Runtime interface, the ID of the image, events, and faults with a remedy.
//
// Each owner, which is a tenant or the operator, pulls only some images at a time and never waits
// for pulls of another owner. A pull has no deadline, but it is cancelled if it makes no progress.
// The CRI does not report progress: the growth of the image file system counts as progress of all
// pulls under way. Records on the disk say which images were pulled with credentials, so that a
// private image does not become available to all pods.
//
// A pull runs on the goroutine of its caller; one more goroutine watches each pull and returns with
// it. Puller.Run, which prepulls, runs on a goroutine of the caller. All methods are safe for
// concurrent use.
package image
