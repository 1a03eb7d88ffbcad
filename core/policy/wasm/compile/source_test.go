package compile

import (
	"errors"
	"testing"
)

func TestASourceMustGiveTheModuleOfItsDigest(t *testing.T) {
	t.Parallel()
	errLost := errors.New("lost")
	for name, test := range map[string]struct {
		source Source
		want   error
	}{
		"it gives another":   {Source{digestOf(small(1)), Whole(small(2)).Module}, ErrAnother},
		"it gives no module": {Source{digestOf(small(1)), func() ([]byte, error) { return nil, errLost }}, errLost},
	} {
		for _, interpreted := range []bool{false, true} {
			f := library(t, t.TempDir()+"/cache", func(o *Options) { o.Interpreted = interpreted })
			if _, err := f.Acquire(t.Context(), "", test.source); !errors.Is(err, test.want) {
				t.Errorf("%s, interpreted %v: %v", name, interpreted, err)
			}
			if n := f.children(t); n != 0 {
				t.Errorf("%s, interpreted %v: %d children", name, interpreted, n)
			}
		}
	}
}
