package mutate

import (
	"bytes"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// valuesOf returns the document of a pod as JSON values.
func valuesOf(p *v1.Pod) (map[string]any, error) {
	text, err := json.Marshal(pod.WholeOf(p))
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

// cloned returns a copy of a value that shares no mutable data with it.
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
