// Package apiserver is the source that lists and watches the pods bound to
// this node.
package apiserver
