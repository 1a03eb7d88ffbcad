package policy

import (
	"sync"
	"weak"

	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/core/pod"
)

// maxInstances is how many pods are remembered with their instance.
const maxInstances = 4096

// instances remember which instance a pod is: telling that takes the pod's JSON,
// longer than to ask several plugins. A pod never changes, so it is told once for
// each. The zero value is ready, and safe for concurrent use.
type instances struct {
	mu sync.Mutex
	// known does not keep a pod from being collected.
	known map[weak.Pointer[v1.Pod]]string
}

// of is pod.Instance. texts writes what that takes.
func (i *instances) of(p *v1.Pod, texts *pod.Texts) (string, error) {
	key := weak.Make(p)
	i.mu.Lock()
	instance, ok := i.known[key]
	i.mu.Unlock()
	if ok {
		return instance, nil
	}
	instance, err := texts.Instance(p)
	if err != nil {
		return "", err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.known == nil || len(i.known) >= maxInstances {
		i.known = map[weak.Pointer[v1.Pod]]string{}
	}
	i.known[key] = instance
	return instance, nil
}
