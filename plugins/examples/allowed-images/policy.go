package main

import (
	"errors"
	"strconv"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
)

// Bounds of what is said of one pod: a pod may have thousands of containers,
// and names of any length.
const (
	maxFaults   = 5
	maxLines    = 20
	maxPatterns = 10
	maxShown    = 300
)

type policy struct {
	allow         []pattern
	requireDigest bool
	// allowed names the patterns in messages.
	allowed string
}

func newPolicy(allow []string, requireDigest bool) (*policy, error) {
	if len(allow) == 0 {
		return nil, errors.New(`settings.allow must list at least one pattern, such as "registry.example/*"; without one no pod could run`)
	}
	p := &policy{requireDigest: requireDigest}
	for i, text := range allow {
		parsed, err := parsePattern(text)
		if err != nil {
			return nil, errors.New("settings.allow[" + strconv.Itoa(i) + "]: " + quoted(text) + ": " + err.Error())
		}
		p.allow = append(p.allow, parsed)
	}
	patterns := list{limit: maxPatterns}
	for _, text := range allow {
		patterns.add(text)
	}
	p.allowed = patterns.join(", ")
	return p, nil
}

// findings is what came out of looking at a pod's images: lines for every
// image, and faults for those that are not allowed.
type findings struct{ faults, lines list }

func (p *policy) judge() admit.Verdict {
	f := findings{list{limit: maxFaults}, list{limit: maxLines}}
	for name, image := range sdk.Zip(containerNames, containerImages) {
		f.add(p, "container "+shown(name.String()), image.String())
	}
	for name, image := range sdk.Zip(volumeNames, volumeImages) {
		if image.Exists() {
			f.add(p, "volume "+shown(name.String()), image.String())
		}
	}
	admit.Explain(f.lines.join("\n"))
	if len(f.faults.texts) > 0 {
		return admit.Deny("ImageNotAllowed", f.faults.join("; ")+" (allowed: "+p.allowed+")")
	}
	return admit.Allow()
}

// add looks at one image; who is a container or a volume.
func (f *findings) add(p *policy, who, reference string) {
	by, fault := p.check(reference)
	if fault == "" {
		f.lines.add(who, ": image ", shown(reference), " is allowed by ", quoted(by))
		return
	}
	f.faults.add(who, ": image ", shown(reference), " ", fault)
	f.lines.add(who, ": image ", shown(reference), " ", fault)
}

// check gives the pattern that lets an image pass, or what is wrong with it.
func (p *policy) check(reference string) (by, fault string) {
	if reference == "" {
		return "", "is missing"
	}
	parsed, err := parseImage(reference)
	if err != nil {
		return "", "is refused: " + err.Error()
	}
	for i := range p.allow {
		if !p.allow[i].matches(&parsed) {
			continue
		}
		if p.requireDigest && parsed.digest == "" {
			return "", "has no digest, and settings.require_digest is set"
		}
		return p.allow[i].text, ""
	}
	full := parsed.String()
	if full == reference {
		return "", "is not allowed"
	}
	return "", "(" + shown(full) + ") is not allowed"
}

// shown quotes a text of the pod, shortened.
func shown(text string) string {
	if len(text) > maxShown {
		text = text[:maxShown] + "…"
	}
	return quoted(text)
}

// quoted puts a text between quotes. What is not printable the agent escapes.
func quoted(text string) string { return `"` + text + `"` }
