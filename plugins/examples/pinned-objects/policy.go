package main

import (
	"errors"
	"strings"

	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
)

// The effects on a pod that names an object that is not pinned.
const (
	othersAllow = "allow"
	othersDeny  = "deny"
)

type policy struct {
	// pins are the digests of the pinned objects, by NAMESPACE/KIND/NAME.
	pins   map[string]string
	others string
}

func newPolicy(pins map[string]string, others string) (*policy, error) {
	if len(pins) == 0 && others == othersAllow {
		return nil, errors.New(`settings.pins is empty, so nothing would be forbidden: pin an object, such as "shop/ConfigMap/app" = "sha256:…"`)
	}
	if others != othersAllow && others != othersDeny {
		return nil, errors.New(`settings.others must be "allow" or "deny", not "` + others + `"`)
	}
	for object, digest := range pins {
		parts := strings.Split(object, "/")
		if len(parts) != 3 || parts[0] == "" || parts[1] != "ConfigMap" && parts[1] != "Secret" || parts[2] == "" {
			return nil, errors.New(`settings.pins: want NAMESPACE/ConfigMap/NAME or NAMESPACE/Secret/NAME, not "` + object + `"`)
		}
		form := "sha256:"
		if parts[1] == "Secret" {
			form = "hmac-sha256:"
		}
		if !strings.HasPrefix(digest, form) {
			return nil, errors.New(`settings.pins: "` + object + `" needs a digest that begins with ` + form + `: take it from wardlet get objects -o wide`)
		}
	}
	return &policy{pins: pins, others: others}, nil
}

// judge holds a pod if a pinned object does not exist yet, and denies a pod if a pinned
// object has another digest.
func (p *policy) judge() admit.Verdict {
	in := namespace.String()
	var missing string
	for i := range kinds.Len() {
		object := sdk.Concat(in, "/", kinds.At(i).String(), "/", names.At(i).String())
		pin, pinned := p.pins[object]
		digest := digests.At(i)
		switch {
		case !pinned && p.others == othersDeny:
			return admit.Deny("NotPinned", sdk.Concat(object, " is not pinned, and the pod names it"))
		case !pinned:
		case !digest.Exists():
			missing = object
		case digest.String() != pin:
			return admit.Deny("OtherContent", sdk.Concat(object, " is not what is pinned: it is ", digest.String()))
		}
	}
	if missing != "" {
		return admit.Hold("NotThere", sdk.Concat(missing, " is pinned and not there"))
	}
	return admit.Allow()
}
