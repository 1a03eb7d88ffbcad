package kube

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMergeKeys_Patch(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ old, next, want string }{
		"nothing new":  {`{"status":{"phase":"Running"}}`, `{"status":{"phase":"Running"}}`, `null`},
		"a value":      {`{"status":{"phase":"Pending","qos":"a"}}`, `{"status":{"phase":"Running","qos":"a"}}`, `{"status":{"phase":"Running"}}`},
		"a value less": {`{"status":{"phase":"Failed","reason":"r"}}`, `{"status":{"phase":"Failed"}}`, `{"status":{"reason":null}}`},
		"a list replaced": {
			`{"status":{"containerStatuses":[{"name":"a"},{"name":"b"}]}}`, `{"status":{"containerStatuses":[{"name":"b"}]}}`,
			`{"status":{"containerStatuses":[{"name":"b"}]}}`,
		},
		"a condition changed, one new, one gone": {
			`{"status":{"conditions":[{"type":"A","status":"True","reason":"x"},{"type":"B","status":"True"},{"type":"C","status":"True"}]}}`,
			`{"status":{"conditions":[{"type":"D","status":"True"},{"type":"A","status":"False"},{"type":"B","status":"True"}]}}`,
			`{"status":{"$setElementOrder/conditions":[{"type":"D"},{"type":"A"},{"type":"B"}],
			  "conditions":[{"type":"D","status":"True"},{"type":"A","status":"False","reason":null},{"$patch":"delete","type":"C"}]}}`,
		},
		"a first condition": {
			`{"status":{}}`, `{"status":{"conditions":[{"type":"A"}]}}`,
			`{"status":{"conditions":[{"type":"A"}]}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var old, next, want map[string]any
			texts := []string{test.old, test.next, test.want}
			for i, into := range []*map[string]any{&old, &next, &want} {
				if err := json.Unmarshal([]byte(texts[i]), into); err != nil {
					t.Fatal(err)
				}
			}
			got, err := PodStatus.Patch(old, next)
			if err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			var patch map[string]any
			if err := json.Unmarshal(again, &patch); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, patch); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
