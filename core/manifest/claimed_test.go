package manifest

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wardlet/wardlet/core/api"
)

func TestABadDocumentSaysWhichPodItWouldBe(t *testing.T) {
	t.Parallel()
	const web = "default/web-node-1"
	for rule, tc := range map[string]struct{ metadata, want string }{
		"by its name":      {"name: web", web},
		"in its namespace": {"name: web, namespace: shop", "shop/web-node-1"},
		"in none that is its own, in the default":   {`name: web, namespace: ""`, web},
		"by the identity it gives itself":           {"name: web, annotations: {wardlet.dev/identity: front}", "default/front"},
		"whatever its other annotations are":        {"name: web, annotations: {a: 7}", web},
		"whatever its labels are":                   {"name: web, labels: [a]", web},
		"with a field that there is not":            {"name: web, namme: shop", web},
		"not without a name":                        {"namespace: shop", ""},
		"not with the name of a field in capitals":  {"Name: web", ""},
		"not with a name that no pod can have":      {"name: Web", ""},
		"not with a name that is a number":          {"name: 7", ""},
		"not with a namespace that there cannot be": {"name: web, namespace: A", ""},
		"not with a namespace that is a list":       {"name: web, namespace: [a]", ""},
		"not with an identity that there cannot be": {"name: web, annotations: {wardlet.dev/identity: A}", ""},
		"not with an identity that is a number":     {"name: web, annotations: {wardlet.dev/identity: 7}", ""},
		"not with an identity that is empty":        {`name: web, annotations: {wardlet.dev/identity: ""}`, ""},
		"not with annotations that are a list":      {"name: web, annotations: [a]", ""},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			const text = "apiVersion: v1\nkind: Pod\nmetadata: {%s}\nspec: {imge: x}\n"
			item := "apiVersion: v1\nkind: PodList\nitems:\n- " +
				strings.TrimSpace(strings.ReplaceAll(fmt.Sprintf(text, tc.metadata), "\n", "\n  ")) + "\n"
			for _, manifest := range []string{fmt.Sprintf(text, tc.metadata), item} {
				docs := Decode([]byte(manifest), testFrom)
				if len(docs) == 0 || docs[0].Err == nil {
					t.Fatalf("not refused: %v", docs)
				}
				got := ""
				if docs[0].Claims != (types.NamespacedName{}) {
					got = docs[0].Claims.String()
				}
				if got != tc.want {
					t.Errorf("%q claims %q, want %q", manifest, got, tc.want)
				}
				if last := docs[len(docs)-1]; strings.HasSuffix(last.ID, api.HoldSuffix) != (tc.want == "") {
					t.Errorf("the last document is %s", last.ID)
				}
			}
		})
	}
}
