package object

import (
	"fmt"
	"slices"
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
		p := New(Config{Dir: "/objects", Now: time.Now})
		if err := p.Directory().Replace(b.Context(), objectDocuments(size)); err != nil {
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

// TestDirectory_itsSizeCostsAPodNothing: a pod's read of an object takes as long with 10 000 objects
// in the directory as with 10.
func TestDirectory_itsSizeCostsAPodNothing(t *testing.T) {
	least := func(size int) time.Duration { // what else the machine does adds to the others
		p := New(Config{Dir: "/objects", Now: time.Now})
		if err := p.Directory().Replace(t.Context(), objectDocuments(size)); err != nil {
			t.Fatal(err)
		}
		var took []time.Duration
		for range 1000 {
			began := time.Now()
			if _, err := p.ConfigMap(t.Context(), staticPod("web"), "object-7"); err != nil {
				t.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
		return slices.Min(took)
	}
	few, many := least(10), least(10_000)
	t.Logf("%v with 10 objects, %v with 10 000", few, many)
	if many > 20*few { // what costs something per object takes a thousand times as long
		t.Error("the size of the directory costs time")
	}
}

// objectDocuments returns the documents of this many files.
func objectDocuments(size int) []api.Document {
	docs := make([]api.Document, size)
	for i := range docs {
		docs[i] = objectDocument(i, "1")
	}
	return docs
}

// objectDocument returns the document of a file with a ConfigMap.
func objectDocument(i int, version string) api.Document {
	return api.Document{
		ID:     fmt.Sprintf("/objects/%d.yaml#0", i),
		Object: &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("object-%d", i), ResourceVersion: version}},
	}
}
