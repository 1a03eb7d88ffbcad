// Command decoding is a small plugin that decodes its settings into a struct.
package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/settings"
)

var images = sdk.Object("spec.@containers[*].image")

type config struct {
	Banned []string
	Limits struct{ Most int }
}

func init() {
	admit.Register(func() (admit.Policy, error) {
		var c config
		if err := settings.Decode(&c); err != nil {
			return nil, err
		}
		return func() admit.Verdict {
			for image := range images.Strings() {
				for _, banned := range c.Banned {
					if image == banned {
						return admit.Deny("ImageBanned", "image "+image+" is banned")
					}
				}
			}
			return admit.Allow()
		}, nil
	})
}

func main() {}
