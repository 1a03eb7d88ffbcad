package mutate

import (
	"strings"
	"testing"
)

func TestAMutablePath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/metadata":                               "",
		"/metadata/labels":                        "",
		"/metadata/labels/example.org~1team":      "",
		"/metadata/labels/*":                      "",
		"/metadata/annotations/example.org~1a":    "",
		"/spec":                                   "",
		"/spec/containers":                        "",
		"/spec/containers/*":                      "",
		"/spec/containers/*/image":                "",
		"/spec/containers/0/image":                "",
		"/spec/containers/*/resources/limits":     "",
		"/spec/containers/*/resources/limits/cpu": "",
		"/spec/initContainers/*/securityContext/capabilities/drop/*": "",
		"/spec/ephemeralContainers/*/image":                          "",
		"/spec/volumes/*/hostPath/path":                              "",
		"/spec/containers/*/livenessProbe/httpGet/port":              "",
		"/spec/tolerations":                                          "",
		"/spec/serviceAccountName":                                   "",

		"":                             `"": this is the whole pod; name what may change, such as "/metadata/labels" or "/spec"`,
		"spec/hostNetwork":             `"spec/hostNetwork": a JSON pointer begins with "/"`,
		"/":                            `"/": no policy may change this: of a pod only`,
		"/metadata/labels/a~b":         `"~" must be followed by 0 or 1`,
		"/metadata/labels/":            `pods have no "" in "/metadata/labels"`,
		"/spec/":                       `pods have no "" in "/spec"`,
		"/spec/containrs":              `"/spec/containrs": pods have no "containrs" in "/spec"; name a field as a manifest does, an element of a list by * or its index`,
		"/spec/Containers":             `pods have no "Containers" in "/spec"`,
		"/spec/containers/-":           `pods have no "-" in "/spec/containers"`,
		"/spec/containers/app/image":   `pods have no "app" in "/spec/containers"`,
		"/spec/containers/01":          `pods have no "01" in "/spec/containers"`,
		"/spec/containers/*/image/0":   `pods have no "0" in "/spec/containers/*/image"`,
		"/spec/*/image":                `pods have no "*" in "/spec"`,
		"/spec/containers/*/*":         `pods have no "*" in "/spec/containers/*"`,
		"/spec/volumes/*/VolumeSource": `pods have no "VolumeSource" in "/spec/volumes/*"`,
		"/spec/containers/*/resources/limits/cpu/0": `pods have no "0" in "/spec/containers/*/resources/limits/cpu"`,
		"/metadata/labels/a/b":                      `pods have no "b" in "/metadata/labels/a"`,
		"/*":                                        `no policy may change this: of a pod only labels, annotations and spec can change; leave it out`,
		"/status":                                   `"/status": no policy may change this: the agent alone reports the status; leave it out`,
		"/status/phase":                             `the agent alone reports the status`,
		"/kind":                                     `of a pod only labels, annotations and spec can change`,
		"/metadata/name":                            `it is the pod's identity`,
		"/metadata/uid":                             `it is the pod's identity`,
		"/metadata/finalizers":                      `of the metadata only labels and annotations can change`,
		"/metadata/*":                               `of the metadata only labels and annotations can change`,
		"/metadata/annotations/wardlet.dev~1identity":        `it is the pod's identity`,
		"/metadata/annotations/wardlet.dev~1x":               `what begins with wardlet.dev/ is the agent's own`,
		"/metadata/labels/wardlet.dev~1x":                    `what begins with wardlet.dev/ is the agent's own`,
		"/metadata/annotations/kubernetes.io~1config.source": `only a node agent writes annotations that begin with kubernetes.io/config.`,
		"/spec/nodeName":                      `the pod is this node's`,
		"/spec/\x1b[31m\n":                    `"/spec/\x1b[31m\n": pods have no "\x1b[31m\n" in "/spec"`,
		"/" + strings.Repeat("a", maxPointer): `more than the 2048 a path may have`,
		strings.Repeat("/a", maxTokens+1):     `more than the 32 a path may have`,
	} {
		err := CheckPath(path)
		switch {
		case want == "" && err != nil:
			t.Errorf("refused: %v", err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: got %v, want %s", path, err, want)
		case err != nil && strings.ContainsAny(err.Error(), "\n\x1b"):
			t.Errorf("not one line: %q", err)
		}
	}
}

func TestPointersAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "/": "|", "/a/b": "|a|b", "/a~1b/c~0d": "|a/b|c~d", "/~01": "|~1", "/~10": "|/0", "/~0~1": "|~/", "//": "||", "/é": "|é",
	} {
		at, err := parsePointer(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		got := strings.Join(append([]string{""}, at...), "|")
		if got != want || at.String() != text {
			t.Errorf("%q: read as %s, written as %q", text, got, at.String())
		}
	}
}
