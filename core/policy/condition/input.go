package condition

import (
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"
	corev1 "k8s.io/api/core/v1"
)

// Input is the data that all conditions of one decision read. It must be used by
// one goroutine. The pods must not change while it is in use, because they are not
// copied.
type Input struct {
	request Request
}

// NewInput makes the input of a decision.
func NewInput(r Request) *Input {
	r.Time = r.Time.Truncate(time.Millisecond) // as plugins see it, and without the monotonic clock
	return &Input{request: r}
}

// ResolveName returns the value of a variable. With this method an Input is the
// activation of a CEL program.
func (in *Input) ResolveName(name string) (any, bool) {
	switch name {
	case variableObject:
		return podOrNull(in.request.Object), true
	case variableOldObject:
		return podOrNull(in.request.OldObject), true
	case variableRequest:
		return &in.request, true
	}
	return nil, false
}

// Parent returns nil: there is no parent.
func (*Input) Parent() interpreter.Activation { return nil }

func podOrNull(p *corev1.Pod) any {
	if p == nil {
		return types.NullValue
	}
	return p
}
