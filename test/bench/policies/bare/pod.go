package bare

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
)

// Pod is a pod in the forms that guests read: the fields that they declare, as values, and the
// whole pod as JSON.
type Pod struct {
	fields   map[string][]byte
	document []byte
}

// The types of values.
const (
	typeMissing = 0
	typeString  = 1
	typeBool    = 2
	typeList    = 5
)

// Encode encodes a pod without ephemeral containers.
func Encode(p *v1.Pod) (*Pod, error) {
	if len(p.Spec.EphemeralContainers) > 0 {
		return nil, fmt.Errorf("pod %s has ephemeral containers", p.Name)
	}
	var images, privileged, escalation, nonRoot [][]byte
	for _, list := range [][]v1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			s := list[i].SecurityContext
			if s == nil {
				s = &v1.SecurityContext{}
			}
			images = append(images, text(list[i].Image))
			privileged = append(privileged, flag(s.Privileged))
			escalation = append(escalation, flag(s.AllowPrivilegeEscalation))
			nonRoot = append(nonRoot, flag(s.RunAsNonRoot))
		}
	}
	const context = "object.spec.@containers[*].securityContext."
	document, err := json.Marshal(p)
	return &Pod{document: document, fields: map[string][]byte{
		"object.metadata.labels['app.kubernetes.io/name']": label(p, "app.kubernetes.io/name"),
		"object.metadata.labels['team']":                   label(p, "team"),
		"object.spec.@containers[*].image":                 list(images),
		context + "privileged":                             list(privileged),
		context + "allowPrivilegeEscalation":               list(escalation),
		context + "runAsNonRoot":                           list(nonRoot),
	}}, err
}

func value(kind byte, content []byte) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(content))), content...)
}

func text(s string) []byte { return value(typeString, []byte(s)) }

func label(p *v1.Pod, key string) []byte {
	s, ok := p.Labels[key]
	if !ok {
		return value(typeMissing, nil)
	}
	return text(s)
}

func flag(b *bool) []byte {
	switch {
	case b == nil:
		return value(typeMissing, nil)
	case *b:
		return value(typeBool, []byte{1})
	}
	return value(typeBool, []byte{0})
}

func list(elements [][]byte) []byte {
	content := binary.LittleEndian.AppendUint32(nil, uint32(len(elements)))
	for _, e := range elements {
		content = append(content, e...)
	}
	return value(typeList, content)
}
