// Package object has the objects that pods of this node name. Of an API server it fetches and watches exactly those, and
// forgets them with the last pod that names them; tokens of service accounts are asked for and renewed. Static pods name
// those of the node's own directory. Neither kind of pod sees the objects of the other.
//
// Comes in: what a pod names (ConfigMap, Secret, Services, RuntimeClass, Token), and that it is gone (Release); documents of
// the directory (Directory). Goes out: the object as it was last known, and which pods a change concerns (Config.Changed).
// A Plane owns the goroutines of its watches; Run ends them and waits for them.
//
// Each is watched by its name; services are the exception, a container has variables of all of its namespace.
//
// What was last known stays in force while it cannot be read, also over a restart of the agent: copies are kept on the disk,
// those of Secrets encrypted. An object that is not known yet is waited for a short time; then its pod waits, with an event.
package object
