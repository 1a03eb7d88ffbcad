package api

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Event is something that happened to a pod, once or several times.
type Event struct {
	// Seq orders the events of one agent process: the newest event has the greatest number, and a
	// repeated event gets a new one. It is 0 if events are not numbered.
	Seq uint64 `json:"seq,omitempty"`
	// FirstSeq is the Seq of its first occurrence.
	FirstSeq uint64 `json:"-"`
	// First and Last are the times of the first and the last occurrence.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// Count is at least 1.
	Count int `json:"count"`
	// Type is Normal or Warning.
	Type      string    `json:"type"`
	Reason    string    `json:"reason"`
	Message   string    `json:"message"`
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       types.UID `json:"uid"`
	// FieldPath is the part of the pod that the event is about, such as spec.containers{main}; empty
	// for the whole pod.
	FieldPath string `json:"fieldPath,omitempty"`
	// Source is the pod's source, by its annotation.
	Source string `json:"source,omitempty"`
}
