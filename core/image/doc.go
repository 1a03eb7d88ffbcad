// Package image makes the images of containers present on the node.
//
// Comes in: a container and its pull policy, from workers; credentials, from a registry configuration file and credential
// provider plugins; the images to prepull. Goes out: CRI calls through the Runtime interface, the ID of the image, events, and
// faults that say what to do.
//
// Each owner, which is a tenant or the operator, pulls only some images at a time and never waits for another's pulls. A pull
// has no deadline but one without progress. The CRI does not report progress: the growth of the image file system counts as
// progress of all pulls under way. Records on the disk say which images were pulled with credentials, so that a private image
// does not become everybody's.
//
// A pull runs on the goroutine of its caller; one goroutine watches each pull and ends with it. Puller.Run, which prepulls,
// is a goroutine of the caller. All methods are safe for concurrent use.
package image
