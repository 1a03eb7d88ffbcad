package policy

import (
	"context"
	"fmt"

	"github.com/wardlet/wardlet/core/pod"
)

// Check loads the policies of a directory once, as a Plane does at its start,
// runs their tests and closes everything again. The state is that of a set
// that came into force; the error has every reason why it would not.
func Check(ctx context.Context, c Config) (pod.PolicySet, error) {
	return checked(ctx, &c, read(&c))
}

// checked is Check of what was read.
func checked(ctx context.Context, c *Config, got *reading) (pod.PolicySet, error) {
	if !got.steady {
		return pod.PolicySet{}, fmt.Errorf("the files in %s change while they are read; try again", c.Dir)
	}
	l := loader{cfg: c}
	s, err := l.load(ctx, got, nil)
	if err != nil {
		return pod.PolicySet{}, err
	}
	inForce := &standing{dir: c.Dir}
	inForce.put(s, nil, c.Now())
	defer inForce.put(nil, nil, c.Now())
	return inForce.show(), nil
}
