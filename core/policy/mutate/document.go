package mutate

import (
	"bytes"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// document is a pod as plugins see it: without its status, and without who
// manages which field. docs/abi.md specifies it.
type document struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     *v1.PodSpec       `json:"spec"`
}

// valuesOf are the values of a pod's document.
func valuesOf(p *v1.Pod) (map[string]any, error) {
	d := document{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, Metadata: p.ObjectMeta, Spec: &p.Spec}
	d.Metadata.ManagedFields = nil
	text, err := json.Marshal(&d)
	if err != nil {
		return nil, fmt.Errorf("write pod %s/%s as JSON: %w", p.Namespace, p.Name, err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var values map[string]any
	if err := dec.Decode(&values); err != nil {
		return nil, fmt.Errorf("read pod %s/%s as JSON: %w", p.Namespace, p.Name, err)
	}
	return values, nil
}

// cloned is a copy of a value that shares nothing that can be changed.
func cloned(value any) any {
	switch value := value.(type) {
	case map[string]any:
		object := make(map[string]any, len(value))
		for key, member := range value {
			object[key] = cloned(member)
		}
		return object
	case []any:
		list := make([]any, len(value))
		for i := range value {
			list[i] = cloned(value[i])
		}
		return list
	default:
		return value
	}
}
