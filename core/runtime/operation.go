package runtime

import (
	"strings"
	"time"
	"unicode"
)

// Observer is told how the calls to the runtime go. Its method is called by who
// makes the call, and returns at once.
type Observer interface {
	// Called says that a call has ended, and whether with an error. operation is
	// what a kubelet calls it.
	Called(operation string, took time.Duration, failed bool)
}

// operation is what a kubelet calls a method of the CRI: a sandbox is one word to
// it.
func operation(method string) string {
	name := method[strings.LastIndexByte(method, '/')+1:]
	if name == "UpdateContainerResources" {
		return "update_container"
	}
	var out strings.Builder
	for i, r := range strings.ReplaceAll(name, "PodSandbox", "Podsandbox") {
		if unicode.IsUpper(r) && i > 0 {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
