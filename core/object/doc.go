// Package object provides the objects that pods of this node name. It fetches and watches exactly
// those objects of an API server, and drops them with the last pod that names them. It requests and
// renews tokens of service accounts. Static pods name objects of the node's own directory. Neither
// kind of pod sees the objects of the other.
//
// Input: the names in a pod (ConfigMap, Secret, Services, RuntimeClass, Token), the end of a pod
// (Release), and documents of the directory (Directory). Output: the object as it was last known,
// and the pods that a change affects (Config.Changed). Objects owns the goroutines of its watches;
// Run stops them and waits for them.
//
// Each object is watched by its name, except services: a container has variables for all services
// of its namespace.
//
// The last known object stays in force while it cannot be read, also after a restart of the agent:
// copies are stored on the disk, those of Secrets and tokens encrypted. If an object is not known yet, the
// caller waits a short time for it. After that the pod waits, with an event.
package object
