package main

import (
	"errors"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
)

// Limits of the texts about one pod: a pod may have thousands of containers, and names of
// any length.
const (
	maxFaults   = 5
	maxLines    = 20
	maxPatterns = 10
	maxShown    = 300
)

type policy struct {
	allow         []pattern
	requireDigest bool
	// allowed lists the patterns, for messages.
	allowed string
}

func newPolicy(allow []string, requireDigest bool) (*policy, error) {
	if len(allow) == 0 {
		return nil, errors.New(`settings.allow must list at least one pattern, such as "registry.example/*"; without one no pod could run`)
	}
	p := &policy{requireDigest: requireDigest}
	patterns := list{limit: maxPatterns, separator: ", "}
	for i, text := range allow {
		parsed, err := parsePattern(text)
		if err != nil {
			var fault sdk.Text
			fault.Add("settings.allow[")
			fault.AddInt(int64(i))
			fault.Add(`]: "`, text, `": `, err.Error())
			return nil, errors.New(fault.String())
		}
		p.allow = append(p.allow, parsed)
		if separator, ok := patterns.begin(); ok {
			patterns.text.Add(separator, text)
		}
	}
	patterns.end()
	p.allowed = patterns.text.String()
	return p, nil
}

// findings is the result of checking a pod's images. lines has an item for every image,
// faults an item for every image that is not allowed.
type findings struct{ faults, lines list }

func (p *policy) judge() admit.Verdict {
	f := findings{list{limit: maxFaults, separator: "; "}, list{limit: maxLines, separator: "\n"}}
	for i := range images {
		of := &images[i]
		for name, image := range sdk.Zip(of.names, of.images) {
			if !of.some || image.Exists() {
				f.look(p, of.what, name, image)
			}
		}
	}
	f.lines.end()
	admit.Explain(f.lines.text.String())
	if f.faults.items == 0 {
		return admit.Allow()
	}
	f.faults.end()
	f.faults.text.Add(" (allowed: ", p.allowed, ")")
	return admit.Deny("ImageNotAllowed", f.faults.text.String())
}

// look checks the image of a container or a volume.
func (f *findings) look(p *policy, what string, name, image sdk.Value) {
	reference := image.String()
	by, fault := p.check(reference)
	if fault == "" {
		f.lines.add(what, name.String(), reference, by)
		return
	}
	for _, l := range [...]*list{&f.faults, &f.lines} {
		l.add(what, name.String(), reference, fault)
	}
}

// check compares an image with the patterns. If a pattern matches, the result by is the
// text about it. Otherwise fault says what is wrong with the image. Both texts follow the
// image's closing quote.
func (p *policy) check(reference string) (by, fault string) {
	if by := p.plainly(reference); by != nil {
		return by.said, ""
	}
	return p.checkAny(reference)
}

// checkAny does what check does, for references of every form.
func (p *policy) checkAny(reference string) (by, fault string) {
	if reference == "" {
		return "", `" is missing`
	}
	var parsed image
	if !parsed.parsePlain(reference) {
		var err error
		if parsed, err = parseAny(reference); err != nil {
			return "", `" is refused: ` + err.Error()
		}
	}
	for i := range p.allow {
		if !p.allow[i].matches(&parsed) {
			continue
		}
		if p.requireDigest && parsed.digest == "" {
			return "", `" has no digest, and settings.require_digest is set`
		}
		return p.allow[i].said, ""
	}
	full := parsed.String()
	if full == reference {
		return "", `" is not allowed`
	}
	if len(full) > maxShown {
		full = full[:maxShown] + "…"
	}
	return "", `" ("` + full + `") is not allowed`
}
