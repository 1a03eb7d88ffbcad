package main

import (
	"errors"
	"slices"

	"github.com/wardlet/wardlet/plugins/sdk/str"
)

const (
	wantLevel   = `"restricted", "baseline" or "privileged"`
	wantVersion = `"latest" or a version such as "v1.30"`
)

func newPolicy(levelName, version string, namespaces map[string]string, exempt []string) (*policy, error) {
	if levelName == "" {
		return nil, errors.New("settings.level is missing: want " + wantLevel)
	}
	p := &policy{namespaces: make(map[string]*profile, len(namespaces)), exempt: exempt}
	minor, ok := parseVersion(version)
	if !ok {
		return nil, errors.New("settings.version must be " + wantVersion + `, not "` + version + `"`)
	}
	l, ok := parseLevel(levelName)
	if !ok {
		return nil, errors.New("settings.level must be " + wantLevel + `, not "` + levelName + `"`)
	}
	p.usual = newProfile(l, minor, version)
	for name, written := range namespaces {
		if !isNamespace(name) {
			return nil, errors.New(`settings.namespaces has "` + name + `", which is the name of no namespace: for patterns, write a policy document each, with match.namespaces`)
		}
		levelName, own := written, version
		if i := str.IndexByte(written, ':'); i >= 0 {
			levelName, own = written[:i], written[i+1:]
		}
		l, ok := parseLevel(levelName)
		minor, parsed := parseVersion(own)
		if !ok || !parsed {
			return nil, errors.New("settings.namespaces." + name + ` must be a level, with or without version, such as "baseline" or "baseline:v1.30", not "` + written + `"`)
		}
		p.namespaces[name] = newProfile(l, minor, own)
	}
	if slices.Contains(exempt, "") {
		return nil, errors.New("settings.exempt_runtime_classes has an empty name: a pod without runtime class is never exempt")
	}
	return p, nil
}

func parseLevel(name string) (level, bool) {
	for l := range levels {
		if levelNames[l] == name {
			return l, true
		}
	}
	return 0, false
}

// maxMinor is the largest number of digits of a minor version.
const maxMinor = 4

// parseVersion returns the minor version. For "latest" it returns newest.
func parseVersion(version string) (minor int, ok bool) {
	if version == latest {
		return newest, true
	}
	const major = "v1."
	if !str.HasPrefix(version, major) {
		return 0, false
	}
	digits := version[len(major):]
	if digits == "" || len(digits) > maxMinor || digits[0] == '0' && len(digits) > 1 {
		return 0, false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
		minor = minor*10 + int(digits[i]-'0')
	}
	return minor, true
}

// isNamespace reports whether a namespace can have the name.
func isNamespace(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z':
		case c == '-' && i > 0 && i < len(name)-1:
		default:
			return false
		}
	}
	return name != "" && len(name) <= 63
}
