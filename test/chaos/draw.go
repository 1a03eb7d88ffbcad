package main

import (
	"fmt"
	"time"
)

// fewest returns how many of all pods must at least be asked for.
func fewest(all int) int { return all * 4 / 5 }

// draw returns a disturbance of a pod, a manifest or the policy. ok is false if the one it drew
// makes no sense now.
func (a *author) draw() (s step, ok bool) {
	chances := []struct {
		weight int
		draw   func() (step, bool)
	}{
		{5, func() (step, bool) { return a.ofPod(killShim) }},
		{18, func() (step, bool) { return a.ofPod(killProcess) }},
		{4, func() (step, bool) { return a.ofPod(killSandbox) }},
		{9, func() (step, bool) { return a.ofPod(stopContainer) }},
		{24, func() (step, bool) { return a.write(editManifest) }},
		{5, func() (step, bool) { return a.write(rewriteManifest) }},
		{5, func() (step, bool) { return a.write(moveManifest) }},
		{9, a.remove},
		{7, func() (step, bool) { return a.ofPod(breakManifest) }},
		{8, func() (step, bool) { return step{Kind: editPolicy, List: a.random.IntN(len(lists))}, true }},
		{3, func() (step, bool) { return step{Kind: breakPolicy}, true }},
	}
	whole := 0
	for _, c := range chances {
		whole += c.weight
	}
	drawn := a.random.IntN(whole)
	for _, c := range chances {
		if drawn -= c.weight; drawn < 0 {
			return c.draw()
		}
	}
	return step{}, false
}

// pod picks a pod that may be disturbed.
func (a *author) pod() *wish {
	for {
		w := a.ledger.wish(a.ledger.order[a.random.IntN(len(a.ledger.order))])
		if !w.shape.steady {
			return w
		}
	}
}

func (a *author) ofPod(k kind) (step, bool) {
	w := a.pod()
	return step{Kind: k, Pod: w.name, File: w.file, Choice: a.random.IntN(1 << 16)}, w.present()
}

// write makes a new version of a pod, even if its manifest is broken or gone. Now and then a pod
// that is gone comes back unchanged.
func (a *author) write(k kind) (step, bool) {
	w := a.pod()
	images := []string{imageOne, imageOne, imageTwo, imageOther}
	s := step{Kind: k, Pod: w.name, File: w.file, Version: w.next(), Image: images[a.random.IntN(len(images))]}
	switch {
	case !w.present() && !w.shape.ends && a.random.IntN(2) == 0:
		back := w.eras[len(w.eras)-2]
		s.Version, s.Image = back.version, back.image
	case !w.present() && k == rewriteManifest:
		s.Kind = editManifest
	case k == moveManifest:
		s.File = fmt.Sprintf("%s-%d.yaml", w.name, s.Version)
	}
	return s, true
}

func (a *author) remove() (step, bool) {
	w, there := a.pod(), 0
	for _, name := range a.ledger.order {
		if a.ledger.wish(name).present() {
			there++
		}
	}
	return step{Kind: removeManifest, Pod: w.name, File: w.file}, w.present() && there > fewest(len(a.ledger.order))
}

// kind is a kind of disturbance, or of the end of one.
type kind string

// The kinds. Steps of kinds that affect one pod name that pod.
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
	// At is when the step is due, since the beginning of the round.
	At   time.Duration
	Kind kind
	Pod  string
	// File, Version and Image are the file, version and image of a manifest that is written.
	File    string
	Version int
	Image   string
	// List is the index of the list of allowed images.
	List int
	// Choice selects one of a pod's containers.
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
