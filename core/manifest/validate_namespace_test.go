package manifest

import (
	"fmt"
	"testing"
)

func TestADocumentOutsideItsTenantsNamespacesIsRefused(t *testing.T) {
	t.Parallel()
	const (
		inNamespace = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: %s\nspec: {containers: [{name: c, image: i}]}\n"
		inNone      = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec: {containers: [{name: c, image: i}]}\n"
		tenants     = " is outside the namespaces of the tenant this source belongs to: web, tenant-a-*"
	)
	list := "apiVersion: v1\nkind: PodList\nitems:\n- metadata:\n    name: a\n    namespace: %s\n  spec: {containers: [{name: c, image: i}]}\n"
	for name, tc := range map[string]struct {
		text  string
		bound []string
		want  string
	}{
		"unless there is no tenant":      {fmt.Sprintf(inNamespace, "other"), nil, ""},
		"unless it is in one":            {fmt.Sprintf(inNamespace, "web"), []string{"web", "tenant-a-*"}, ""},
		"unless it matches one":          {fmt.Sprintf(inNamespace, "tenant-a-db"), []string{"web", "tenant-a-*"}, ""},
		"unless default is one":          {inNone, []string{"default"}, ""},
		"with the line of its namespace": {fmt.Sprintf(inNamespace, "tenant-b-db"), []string{"web", "tenant-a-*"}, `/m/web.yaml:5: metadata.namespace: Forbidden: "tenant-b-db"` + tenants},
		"as an item of a list":           {fmt.Sprintf(list, "tenant-b"), []string{"web", "tenant-a-*"}, `/m/web.yaml:6: metadata.namespace: Forbidden: "tenant-b"` + tenants},
		"where it names none":            {inNone, []string{"web", "tenant-a-*"}, `/m/web.yaml:3: metadata.namespace: Forbidden: "default"` + tenants},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := testFrom
			from.Namespaces = tc.bound
			docs := Decode([]byte(tc.text), from)
			if len(docs) != 1 {
				t.Fatalf("%d documents", len(docs))
			}
			got := ""
			if docs[0].Err != nil {
				got = docs[0].Err.Error()
			}
			if got != tc.want {
				t.Errorf("error %q, want %q", got, tc.want)
			}
		})
	}
}

func TestANamespaceDoesNotChangeTheUID(t *testing.T) {
	t.Parallel()
	from := testFrom
	from.Namespaces = []string{"*"}
	if bound, free := uidOf(t, manifest(), from), uidOf(t, manifest(), testFrom); bound != free {
		t.Errorf("UID %s with a tenant, %s without", bound, free)
	}
}
