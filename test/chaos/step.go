package main

import (
	"fmt"
	"time"
)

// kind is a sort of disturbance, or what ends one.
type kind string

// The kinds. Those of one pod name it.
const (
	killAgent     kind = "kill the agent"
	endAgent      kind = "end the agent with SIGTERM"
	startAgent    kind = "start the agent"
	killRuntime   kind = "kill containerd"
	resumeRuntime kind = "start containerd"
	freezeRuntime kind = "freeze containerd"
	thawRuntime   kind = "thaw containerd"

	killShim      kind = "kill the shim of"
	killProcess   kind = "kill a container of"
	killSandbox   kind = "kill the sandbox of"
	stopContainer kind = "stop through CRI a container of"

	editManifest    kind = "write the manifest of"
	rewriteManifest kind = "write in place, in two halves, the manifest of"
	moveManifest    kind = "write into another file the manifest of"
	removeManifest  kind = "remove the manifest of"
	breakManifest   kind = "break the manifest of"

	editPolicy  kind = "edit the policy"
	breakPolicy kind = "break the policy"
)

// step is one thing to do.
type step struct {
	// At is when, since the round began.
	At   time.Duration
	Kind kind
	Pod  string
	// File, Version and Image are what a manifest is written as.
	File    string
	Version int
	Image   string
	// List is the number of the list of allowed images.
	List int
	// Choice decides which of a pod's containers is meant.
	Choice int
}

func (s *step) String() string {
	switch s.Kind {
	case editManifest, rewriteManifest, moveManifest:
		return fmt.Sprintf("%s %s: version %d, image %s, file %s", s.Kind, s.Pod, s.Version, s.Image, s.File)
	case editPolicy:
		return fmt.Sprintf("%s: %s", s.Kind, lists[s.List].what)
	}
	if s.Pod != "" {
		return fmt.Sprintf("%s %s", s.Kind, s.Pod)
	}
	return string(s.Kind)
}
