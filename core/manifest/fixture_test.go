package manifest

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/api"
)

var testFrom = DecodeFrom{Source: "local", Kind: api.KindFile, File: "/m/web.yaml", NodeName: "Node-1"}

// manifest returns a small valid pod with more lines below spec.
func manifest(more ...string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  containers:\n  - name: app\n    image: img\n" +
		strings.Join(more, "\n") + "\n"
}

// decodeOne decodes a manifest that has exactly one valid pod.
func decodeOne(t *testing.T, text string) *v1.Pod {
	t.Helper()
	docs := Decode([]byte(text), testFrom)
	if len(docs) != 1 {
		t.Fatalf("got %d documents, want 1: %v", len(docs), docs)
	}
	if docs[0].Err != nil {
		t.Fatalf("refused: %v", docs[0].Err)
	}
	return docs[0].Pod
}

// expectRefusal checks the error of the first document of a manifest, without the file's name;
// "" for none.
func expectRefusal(t *testing.T, text, want string) {
	t.Helper()
	got := ""
	if docs := Decode([]byte(text), testFrom); docs[0].Err != nil {
		got = strings.TrimPrefix(docs[0].Err.Error(), "/m/web.yaml:")
	}
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
