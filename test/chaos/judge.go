package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
)

// judge compares what runs with the manifests, while nothing is disturbed. told is what the agent
// shows.
func judge(l *ledger, v *view, told []v1.Pod) []finding {
	var all []finding
	for _, name := range l.order {
		c := comparison{wish: l.wish(name), view: v}
		c.allowed = l.allowed(c.wish.newest().image)
		for i := range told {
			if told[i].Name == name+"-"+nodeName {
				c.told = append(c.told, &told[i])
			}
		}
		for _, text := range c.differences() {
			all = append(all, found(v.at, name, "%s: %s; %s", name, text, c.summary()))
		}
	}
	return all
}

// comparison is the comparison of one pod.
type comparison struct {
	wish    *wish
	allowed bool
	view    *view
	told    []*v1.Pod
}

func (c *comparison) differences() []string {
	var all []string
	asked, running := c.wish.asked(), c.running()
	for _, version := range running {
		if !slices.Contains(asked, version) && !c.kept(version) {
			all = append(all, fmt.Sprintf("version %d runs, which is not asked for", version))
		}
	}
	if len(running) == 0 {
		if !slices.Contains(asked, 0) && !c.explained(asked) {
			all = append(all, "nothing of it runs")
		}
		return all
	}
	for _, version := range running {
		for _, name := range c.wish.shape.containers {
			all = append(all, c.container(version, name)...)
		}
	}
	return all
}

// running returns the versions of which a sandbox or a container runs.
func (c *comparison) running() []int {
	var versions []int
	for _, units := range [][]unit{c.view.sandboxes, c.view.containers} {
		for i := range units {
			if u := &units[i]; u.pod == c.wish.name && u.state == alive && !slices.Contains(versions, u.version) {
				versions = append(versions, u.version)
			}
		}
	}
	return versions
}

// kept reports whether an older version runs on because policy does not admit the newer one.
func (c *comparison) kept(version int) bool {
	return !c.allowed && c.wish.newest().version > 0 && c.wish.before(version)
}

// explained reports whether the agent says why nothing of the pod runs, and whether that reason is
// valid.
func (c *comparison) explained(asked []int) bool {
	return slices.ContainsFunc(c.told, func(p *v1.Pod) bool {
		version, _ := strconv.Atoi(p.Labels[labelVersion])
		if !slices.Contains(asked, version) && !c.kept(version) {
			return false
		}
		over := p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
		denied := over && p.Status.Reason == reasonDenied
		return over && !denied && c.wish.shape.ends || denied && !c.allowed || slices.ContainsFunc(p.Status.ContainerStatuses, backsOff)
	})
}

// reasonDenied is the reason with which the edited policy denies an image.
const reasonDenied = "ImageNotAllowed"

func backsOff(s v1.ContainerStatus) bool {
	return s.State.Waiting != nil && s.State.Waiting.Reason == "CrashLoopBackOff"
}

// container compares one container of a running version.
func (c *comparison) container(version int, name string) []string {
	var id string
	for i := range c.view.containers {
		if u := &c.view.containers[i]; u.pod == c.wish.name && u.version == version && u.name == name && u.state == alive {
			id = u.id
		}
	}
	told := c.toldOf(version, name)
	switch {
	case c.wish.shape.ends:
		return nil // it exits by itself
	case id == "" && (told == nil || !backsOff(*told)):
		return []string{fmt.Sprintf("container %s of version %d does not run", name, version)}
	case id != "" && (told == nil || told.State.Running == nil || !strings.HasSuffix(told.ContainerID, "://"+id)):
		return []string{fmt.Sprintf("container %s of version %d runs as %.12s, which the agent does not say", name, version, id)}
	}
	return nil
}

// toldOf returns the agent's status of a container, nil if it shows none.
func (c *comparison) toldOf(version int, name string) *v1.ContainerStatus {
	for _, p := range c.told {
		for i := range p.Status.ContainerStatuses {
			if s := &p.Status.ContainerStatuses[i]; s.Name == name && p.Labels[labelVersion] == strconv.Itoa(version) {
				return s
			}
		}
	}
	return nil
}

// summary returns what is asked for, what runs and what the agent shows.
func (c *comparison) summary() string {
	var words []string
	e := c.wish.newest()
	words = append(words, fmt.Sprintf("asked for: version %d, image %q, allowed %t", e.version, e.image, c.allowed))
	if !c.wish.broken.IsZero() {
		words = append(words, fmt.Sprintf("broken since %s, so one of %v", clock(c.wish.broken), c.wish.asked()))
	}
	for _, units := range [][]unit{c.view.sandboxes, c.view.containers} {
		for i := range units {
			if u := &units[i]; u.pod == c.wish.name {
				words = append(words, [...]string{"unclear", "alive", "dead"}[u.state]+" "+u.String())
			}
		}
	}
	for _, p := range c.told {
		words = append(words, fmt.Sprintf("the agent says: version %s, uid %s, %s %s %s", p.Labels[labelVersion], p.UID, p.Status.Phase, p.Status.Reason, p.Status.Message))
		for i := range p.Status.ContainerStatuses {
			words = append(words, containerWords(&p.Status.ContainerStatuses[i]))
		}
	}
	return strings.Join(words, "\n    ")
}

func containerWords(s *v1.ContainerStatus) string {
	switch {
	case s.State.Running != nil:
		return fmt.Sprintf("  %s runs as %s", s.Name, s.ContainerID)
	case s.State.Waiting != nil:
		return fmt.Sprintf("  %s waits: %s %s", s.Name, s.State.Waiting.Reason, s.State.Waiting.Message)
	case s.State.Terminated != nil:
		return fmt.Sprintf("  %s ended with %d: %s", s.Name, s.State.Terminated.ExitCode, s.State.Terminated.Reason)
	}
	return "  " + s.Name + " has no state"
}

// finding is one violation of a rule.
type finding struct {
	at time.Time
	// pod is the name of the pod that the finding is about, empty for no single pod.
	pod  string
	text string
}

func found(at time.Time, pod, format string, values ...any) finding {
	return finding{at, pod, fmt.Sprintf(format, values...)}
}

// findings has each finding once.
type findings struct {
	mu   sync.Mutex
	list []finding
	seen map[string]bool
}

func (f *findings) add(all ...finding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range all {
		if f.seen == nil {
			f.seen = map[string]bool{}
		}
		if !f.seen[one.text] {
			f.seen[one.text] = true
			f.list = append(f.list, one)
		}
	}
}

func (f *findings) all() []finding {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]finding(nil), f.list...)
}

// twice finds what must not run at the same time: two containers of one name in a pod, two
// sandboxes of a pod, two pods of one name.
func twice(v *view) []finding {
	return append(twiceAmong(v.at, v.sandboxes), twiceAmong(v.at, v.containers)...)
}

func twiceAmong(at time.Time, units []unit) []finding {
	var all []finding
	for i := range units {
		for j := range units[:i] {
			one, other := &units[j], &units[i]
			if one.state != alive || other.state != alive || one.pod != other.pod {
				continue
			}
			switch {
			case one.uid != other.uid:
				all = append(all, found(at, one.pod, "two pods of one name run at once: %s and %s", one, other))
			case one.name == other.name:
				all = append(all, found(at, one.pod, "two of one kind run at once: %s and %s", one, other))
			}
		}
	}
	return all
}

// twiceInProc is twice by the process table: each known sandbox or container that has a process
// counts as running.
func twiceInProc(at time.Time, processes map[string][]int, known map[string]*unit) []finding {
	var running []unit
	for id := range processes {
		if u := known[id]; u != nil {
			live := *u
			live.state = alive
			running = append(running, live)
		}
	}
	slices.SortFunc(running, func(a, b unit) int { return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.id, b.id)) })
	return twiceAmong(at, running)
}
