package object

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/core/api"
)

// BenchmarkDirectory measures a pod's read of one object in a directory, and the change of one
// object.
func BenchmarkDirectory(b *testing.B) {
	for _, size := range []int{10, 10_000} {
		docs := make([]api.Document, size)
		for i := range docs {
			docs[i] = objectDocument(i, "1")
		}
		p := New(Config{Dir: "/objects", Now: time.Now})
		if err := p.Directory().Replace(b.Context(), docs); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("get/%d", size), func(b *testing.B) {
			for b.Loop() {
				if _, err := p.ConfigMap(b.Context(), staticPod("web"), "object-7"); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("change/%d", size), func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				if err := p.Directory().Apply(b.Context(), []api.Document{objectDocument(8, strconv.Itoa(n))}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// objectDocument returns the document of a file with a ConfigMap.
func objectDocument(i int, version string) api.Document {
	return api.Document{
		ID:     fmt.Sprintf("/objects/%d.yaml#0", i),
		Object: &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("object-%d", i), ResourceVersion: version}},
	}
}
