package projection

import (
	"errors"

	"github.com/wardlet/wardlet/plugins/sdk/internal/record"
	"github.com/wardlet/wardlet/plugins/sdk/sdktest/internal/shape"
)

// containersAlias stands for all containers of a pod: init, regular, ephemeral.
const containersAlias = "@containers"

// followContainers makes the step for the rest of a path after @containers. A field that
// only one of the two types of containers has is absent in the containers of the other
// type.
func followContainers(t *shape.Type, rest []Segment) (step, error) {
	if t.Name != "PodSpec" {
		return step{}, errors.New(containersAlias + " is a name of object.spec only")
	}
	var after []Segment
	if len(rest) > 0 {
		if rest[0].kind != segmentEach && rest[0].kind != segmentIndex {
			return step{}, errors.New(containersAlias + " is a list: [*] or an index must follow")
		}
		after = rest[1:]
	}
	regular, ephemeral, err := followBoth(after)
	if err != nil {
		return step{}, err
	}
	one := func(w *record.Writer, c container) error {
		if c.ephemeral {
			return ephemeral.write(w, c.value)
		}
		return regular.write(w, c.value)
	}
	if len(rest) > 0 && rest[0].kind == segmentIndex {
		return step{list: regular.list, write: func(w *record.Writer, value any) error {
			if all := containers(value); rest[0].index < len(all) {
				return one(w, all[rest[0].index])
			}
			return regular.absent(w)
		}}, nil
	}
	return step{list: len(rest) > 0, write: func(w *record.Writer, value any) error {
		all := containers(value)
		if len(all) == 0 && len(rest) == 0 {
			w.Missing()
			return nil
		}
		return each(w, len(all), func(i int) error { return one(w, all[i]) })
	}}, nil
}

func followBoth(rest []Segment) (regular, ephemeral step, err error) {
	ofRegular, err := shape.Named("Container")
	if err != nil {
		return step{}, step{}, err
	}
	ofEphemeral, err := shape.Named("EphemeralContainer")
	if err != nil {
		return step{}, step{}, err
	}
	regular, err = follow(ofRegular, rest, false)
	ephemeral, err2 := follow(ofEphemeral, rest, false)
	never := func(like step) step {
		return step{list: like.list, write: func(w *record.Writer, _ any) error { return like.absent(w) }}
	}
	switch {
	case err != nil && err2 != nil:
		return step{}, step{}, err
	case err != nil:
		regular = never(ephemeral)
	case err2 != nil:
		ephemeral = never(regular)
	}
	return regular, ephemeral, nil
}

type container struct {
	value     any
	ephemeral bool
}

// containers returns the containers of a spec in the order of the alias.
func containers(spec any) (all []container) {
	object, _ := spec.(map[string]any)
	for _, name := range []string{"initContainers", "containers", "ephemeralContainers"} {
		list, _ := object[name].([]any)
		for _, value := range list {
			all = append(all, container{value, name == "ephemeralContainers"})
		}
	}
	return all
}
