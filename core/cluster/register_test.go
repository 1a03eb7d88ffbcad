package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestLabelPatch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		there, own map[string]string
		want       map[string]string // nil for no patch
	}{
		"all are there":                     {there: map[string]string{"site": "north", "others": "x"}, own: map[string]string{"site": "north"}},
		"another value, and one more":       {there: map[string]string{"a": "0", "b": "2"}, own: map[string]string{"a": "1", "c": "3"}, want: map[string]string{"a": "1", "c": "3"}},
		"an empty value that is there":      {there: map[string]string{"edge": ""}, own: map[string]string{"edge": ""}},
		"an empty value that is missing":    {there: map[string]string{"site": "north"}, own: map[string]string{"edge": "", "site": "north"}, want: map[string]string{"edge": ""}},
		"an empty value, and no labels yet": {own: map[string]string{"edge": ""}, want: map[string]string{"edge": ""}},
		"an empty value instead of another": {there: map[string]string{"edge": "yes"}, own: map[string]string{"edge": ""}, want: map[string]string{"edge": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want map[string]any
			if test.want != nil {
				want = map[string]any{"metadata": map[string]any{"labels": test.want}}
			}
			if diff := cmp.Diff(want, labelPatch(&v1.Node{ObjectMeta: metav1.ObjectMeta{Labels: test.there}}, test.own)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
		})
	}
}
