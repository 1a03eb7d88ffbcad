//go:build e2e

package statusparity

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// value is a decoded JSON object of a status.
type value = map[string]any

// state is a status split into parts that change as a whole: the phase with its reason, each
// condition, each container, and every other field.
type state map[string]any

func (s state) text(unit string) string {
	is, ok := s[unit]
	if !ok {
		return "nothing"
	}
	text, _ := json.Marshal(is) // it was decoded from JSON, so it can be encoded
	return string(text)
}

func (s state) String() string {
	text, _ := json.Marshal(s) // as above
	return string(text)
}

// history is what an agent wrote about one pod.
type history struct {
	states []state
	// patches are the request bodies, for readers of a failure.
	patches []string
	// last is the pod after the last patch.
	last *v1.Pod
}

// final returns the last state.
func (h *history) final() state { return h.states[len(h.states)-1] }

// histories returns the histories of all pods, by name.
func (p *play) histories(lives []*life) (map[string]*history, error) {
	all := map[string]*history{}
	for name, pod := range p.First {
		h := &history{}
		if err := h.add(p, pod); err != nil {
			return nil, err
		}
		all[name] = h
	}
	for i := range p.Requests {
		q := &p.Requests[i]
		name, ok := p.patched(q.Method, q.Path)
		if !ok || q.Code != http.StatusOK {
			continue
		}
		h := all[name]
		if h == nil {
			return nil, fmt.Errorf("%s: a patch of a pod nobody saw: %s", p.Agent, q.Path)
		}
		next, err := apply(h.last, q.Body)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.Agent, q.Body, err)
		}
		if err := h.add(p, next); err != nil {
			return nil, err
		}
		who := "agent"
		if q.Query == byUs {
			who = "test"
		}
		h.patches = append(h.patches, who+": "+string(q.Body))
	}
	forced := map[string]bool{}
	for _, l := range lives {
		forced[l.pod.Name] = l.grace != nil && *l.grace == 0
	}
	return all, p.check(all, forced)
}

// apply returns a pod with a patch applied.
func apply(pod *v1.Pod, patch []byte) (*v1.Pod, error) {
	text, err := json.Marshal(pod)
	if err != nil {
		return nil, err
	}
	var object, change value
	if err := errors.Join(json.Unmarshal(text, &object), json.Unmarshal(patch, &change)); err != nil {
		return nil, err
	}
	if err := fold(object, change); err != nil {
		return nil, err
	}
	text, err = json.Marshal(object)
	if err != nil {
		return nil, err
	}
	next := &v1.Pod{}
	return next, json.Unmarshal(text, next)
}

// add adds the current state of a pod.
func (h *history) add(p *play, pod *v1.Pod) error {
	h.last = pod
	s, err := p.normalise(pod)
	if err != nil {
		return err
	}
	if len(h.states) == 0 || s.String() != h.final().String() {
		h.states = append(h.states, s)
	}
	return nil
}

// check compares the result of all patches with the last state of each pod at the API server. For
// pods that were deleted by force it removes the later states.
func (p *play) check(all map[string]*history, forced map[string]bool) error {
	for name, gone := range p.Gone {
		s, err := p.normalise(gone)
		if err != nil {
			return err
		}
		h := all[name]
		if h == nil {
			continue
		}
		if forced[name] {
			// The API server accepted patches between the two steps of the deletion, and then discarded
			// them.
			for i := range slices.Backward(h.states) {
				if h.states[i].String() == s.String() {
					h.states = h.states[:i+1]
					break
				}
			}
		}
		if s.String() != h.final().String() {
			return fmt.Errorf("%s: %s: the API server has\n%s\nand the patches say\n%s\nthey are\n%s", p.Agent, name, s, h.final(), strings.Join(h.patches, "\n"))
		}
	}
	return nil
}

// patched returns the pod whose status a request patches.
func (p *play) patched(method, path string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(path, "/api/v1/namespaces/"+p.Namespace+"/pods/")
	if !ok || method != http.MethodPatch {
		return "", false
	}
	return strings.CutSuffix(rest, "/status")
}

var (
	instant = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`)
	hexID   = regexp.MustCompile(`[0-9a-f]{64}`)
	token   = regexp.MustCompile(`kube-api-access-\w+`)
	pid     = regexp.MustCompile(`\bpid \d+`)
	address = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+`)
)

// normalise returns the part of a status that is the same for all lives with the same course.
func (p *play) normalise(pod *v1.Pod) (state, error) {
	text, err := json.Marshal(&pod.Status)
	if err != nil {
		return nil, err
	}
	var st value
	if err := json.Unmarshal(text, &st); err != nil {
		return nil, err
	}
	var walk func(any) any
	walk = func(at any) any {
		switch at := at.(type) {
		case map[string]any:
			for key, is := range at {
				at[key] = walk(is)
			}
		case []any:
			for i := range at {
				at[i] = walk(at[i])
			}
		case string:
			return p.word(pod, at)
		}
		return at
	}
	walk(st)
	s := state{}
	for key, is := range st {
		switch key {
		case "phase", "reason", "message":
			unit, _ := s["phase"].(value)
			if unit == nil {
				unit = value{}
				s["phase"] = unit
			}
			unit[key] = is
		case "conditions":
			for _, c := range is.([]any) {
				s["condition "+c.(value)["type"].(string)] = c
			}
		case "containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses":
			for _, c := range is.([]any) {
				c := c.(value)
				relate(c)
				if c["state"].(value)["terminated"] != nil {
					delete(c, "user") // containerd does not always know the user then
				}
				s["container "+c["name"].(string)] = c
			}
		default:
			s[key] = is
		}
	}
	return s, nil
}

// word replaces in a text what is specific to this pod.
func (p *play) word(pod *v1.Pod, text string) string {
	if instant.MatchString(text) {
		if strings.HasPrefix(text, "1970-") {
			return "EPOCH"
		}
		return "TIME"
	}
	text = strings.ReplaceAll(text, string(pod.UID), "UID")
	text = strings.ReplaceAll(text, p.Namespace, "NAMESPACE")
	text = address.ReplaceAllStringFunc(text, func(ip string) string {
		switch ip {
		case p.NodeIP:
			return "NODE"
		case pod.Status.PodIP:
			return "POD"
		}
		return ip
	})
	text = token.ReplaceAllString(text, "kube-api-access")
	return pid.ReplaceAllString(text, "pid N")
}

// relate replaces the container IDs in a container status. In its states, the replacement says
// whether the ID is the container's own.
func relate(c value) {
	own, _ := c["containerID"].(string)
	for _, key := range []string{"state", "lastState"} {
		of, _ := c[key].(value)
		ended, _ := of["terminated"].(value)
		if ended == nil {
			continue
		}
		id, there := ended["containerID"].(string)
		switch {
		case there && id == own:
			ended["containerID"] = "its own"
		case there && hexID.MatchString(id):
			ended["containerID"] = hexID.ReplaceAllString(id, "another")
		}
	}
	var walk func(at any) any
	walk = func(at any) any {
		switch at := at.(type) {
		case value:
			for key, is := range at {
				at[key] = walk(is)
			}
		case string:
			if !strings.HasPrefix(at, "sha256:") && !strings.Contains(at, "@sha256:") {
				return hexID.ReplaceAllString(at, "ID")
			}
		}
		return at
	}
	walk(c)
}

// paths returns the fields that an agent wrote, and how often.
func (p *play) paths() (map[string]int, error) {
	all := map[string]int{}
	var walk func(path string, at any)
	walk = func(path string, at any) {
		switch at := at.(type) {
		case nil: // removes a field that was written before
		case value:
			for key, is := range at {
				walk(path+"."+key, is)
			}
		case []any:
			for _, is := range at {
				element := "[]"
				if of, ok := is.(value); ok {
					if kind, ok := of["type"].(string); ok {
						element = "[" + kind + "]"
					}
				}
				walk(path+element, is)
			}
		default:
			all[strings.TrimPrefix(path, ".")]++
		}
	}
	for i := range p.Requests {
		q := &p.Requests[i]
		if _, ok := p.patched(q.Method, q.Path); !ok || q.Query == byUs {
			continue
		}
		var body any
		if err := json.Unmarshal(q.Body, &body); err != nil {
			return nil, err
		}
		walk("", body)
	}
	return all, nil
}

// units returns the names of the parts of two states.
func units(a, b state) []string {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return slices.Sorted(maps.Keys(both))
}
