package policy

import (
	"context"
	"fmt"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/policy/bundle"
)

// Check loads the policies of a directory once, as a Plane does at its start,
// runs their tests and closes everything again. The state is that of a set
// that came into force; the error has every reason why it would not.
func Check(ctx context.Context, c Config) (api.PolicySet, error) {
	return checked(ctx, &c, bundle.Read(c.read()))
}

// checked is Check of what was read.
func checked(ctx context.Context, c *Config, got *bundle.Bundle) (api.PolicySet, error) {
	s, err := loadAlone(ctx, c, "", got)
	if err != nil {
		return api.PolicySet{}, err
	}
	inForce := &standing{dir: c.Dir}
	inForce.put(s, nil, c.Now())
	defer inForce.put(nil, nil, c.Now())
	return inForce.show(), nil
}

// loadAlone makes a set of an owner's of what was read, which nobody reads again.
func loadAlone(ctx context.Context, c *Config, tenant string, got *bundle.Bundle) (*loadedSet, error) {
	if !got.Steady {
		return nil, fmt.Errorf("the files in %s change while they are read; try again", c.Dir)
	}
	l := loader{cfg: c, tenant: tenant}
	return l.load(ctx, got, nil)
}
