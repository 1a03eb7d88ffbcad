//go:build !wasip1

package sdktest

import (
	"encoding/json"
	"unicode/utf8"
)

// Patch implements host.Host.
func (a *agent) Patch(text string) {
	a.count(len(text))
	if err := checkPatch(text); err != "" {
		stop("the patch is none: %s", err)
	}
	if a.hook == hookFilter || a.hook == hookConnect || a.hook == "" {
		return
	}
	a.result.Patch = text
	if text == "[]" {
		a.result.Patch = ""
	}
}

// checkPatch returns what is wrong with a patch. It checks the same as the agent does when
// it receives a patch.
func checkPatch(text string) string {
	var operations []map[string]any
	switch {
	case !utf8.ValidString(text):
		return "it is not valid UTF-8"
	case json.Unmarshal([]byte(text), &operations) != nil || operations == nil:
		return "want a JSON array of objects"
	}
	for _, o := range operations {
		switch o["op"] {
		case "add", "replace", "remove", "test":
		default:
			return "an operation's op must be add, replace, remove or test"
		}
		if _, ok := o["path"].(string); !ok {
			return "an operation's path must be a string"
		}
	}
	return ""
}
