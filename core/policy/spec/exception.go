package spec

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/strict"
)

// maxExceptions is how many exceptions a policy may have.
const maxExceptions = 100

// Exception exempts pods from a policy for some time: the policy is not asked
// about them.
type Exception struct {
	// Pods are "NAMESPACE/NAME", in which "*" stands for any run of characters.
	Pods []string `toml:"pods"`
	// Owner is the person who is responsible for the exception.
	Owner string `toml:"owner"`
	// Reason is shown with the decision.
	Reason string `toml:"reason"`
	// Expires is a date, at whose end in UTC the exception ends, or a time with a zone.
	Expires any `toml:"expires"`

	Until time.Time
}

func (d *Document) checkExceptions(report strict.Report) {
	if len(d.Exceptions) > maxExceptions {
		report("exception", "%d exceptions, more than the %d a policy may have", len(d.Exceptions), maxExceptions)
		return
	}
	for i := range d.Exceptions {
		e := &d.Exceptions[i]
		key := func(name string) string { return fmt.Sprintf("exception[%d].%s", i, name) }
		if len(e.Pods) == 0 {
			report(key("pods"), `missing; name the pods, for example pods = ["shop/web-*"]`)
		}
		for j, pattern := range e.Pods {
			if namespace, name, ok := strings.Cut(pattern, "/"); !ok || glob(namespace).fault() != "" || podGlobFault(name) {
				report(fmt.Sprintf("%s[%d]", key("pods"), j), `want NAMESPACE/NAME, for example "shop/web-*", found %.80q`, pattern)
			}
		}
		if strings.TrimSpace(e.Owner) == "" {
			report(key("owner"), "missing; name who answers for the exception")
		}
		var err error
		if e.Until, err = endOf(e.Expires); err != nil {
			report(key("expires"), "%v", err)
		}
	}
}

// podGlobFault reports whether no pod can have a name that matches.
func podGlobFault(name string) bool {
	const characters = "abcdefghijklmnopqrstuvwxyz0123456789-.*"
	return name == "" || strings.Trim(name, characters) != ""
}

// endOf returns the first instant at which an exception no longer applies.
func endOf(expires any) (time.Time, error) {
	const want = `want a date such as "2026-12-31", at whose end in UTC the exception ends, or a time with its zone such as "2026-12-31T18:00:00+01:00"`
	switch value := expires.(type) {
	case nil:
		return time.Time{}, fmt.Errorf("missing; %s", want)
	case string:
		if day, err := time.Parse(time.DateOnly, value); err == nil {
			return day.AddDate(0, 0, 1), nil
		}
		if at, err := time.Parse(time.RFC3339, value); err == nil {
			return at.UTC(), nil
		}
		return time.Time{}, fmt.Errorf("%s, found %.80q", want, value)
	case time.Time:
		switch timeLayout(value) {
		case time.DateOnly:
			return time.Date(value.Year(), value.Month(), value.Day()+1, 0, 0, 0, 0, time.UTC), nil
		case time.RFC3339Nano:
			return value.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%s", want)
}

// Covers reports whether one of a pod's names is among those of the exception.
func (e *Exception) Covers(names []string) bool {
	return slices.ContainsFunc(e.Pods, func(pattern string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return matchesPod(pattern, name) })
	})
}

// matchesPod compares a pattern for pods with a pod's name, both with their
// namespace before a slash.
func matchesPod(pattern, name string) bool {
	inNamespace, called, _ := strings.Cut(pattern, "/")
	namespace, own, _ := strings.Cut(name, "/")
	return pod.MatchNamespace(inNamespace, namespace) && pod.MatchNamespace(called, own)
}
