package condition

import (
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/interpreter"
	corev1 "k8s.io/api/core/v1"
)

// Input is what all conditions of one decision look at. It is used by one
// goroutine. The pods must not change while it is used; nothing of them is
// copied.
type Input struct {
	request Request
}

// NewInput makes the input of a decision.
func NewInput(r Request) *Input {
	r.Time = r.Time.Truncate(time.Millisecond) // as plugins see it, and without the monotonic clock
	return &Input{request: r}
}

// ResolveName is the value of a variable. It makes an Input the activation of
// a CEL program.
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

// Parent is none.
func (*Input) Parent() interpreter.Activation { return nil }

func podOrNull(p *corev1.Pod) any {
	if p == nil {
		return types.NullValue
	}
	return p
}
