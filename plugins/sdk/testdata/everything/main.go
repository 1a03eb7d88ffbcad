// Command everything is a plugin that has and asks for all there is.
package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/admit"
	"github.com/wardlet/wardlet/plugins/sdk/filter"
	"github.com/wardlet/wardlet/plugins/sdk/merge"
	"github.com/wardlet/wardlet/plugins/sdk/patch"
	"github.com/wardlet/wardlet/plugins/sdk/request"
	"github.com/wardlet/wardlet/plugins/sdk/settings"
	"github.com/wardlet/wardlet/plugins/sdk/validate"
)

var (
	labels  = sdk.Object("metadata.labels")
	volumes = sdk.Object("spec.volumes").Lazy()
	zone    = sdk.Node("labels['zone']")
	changed = request.Changed()
	running = merge.Running()
)

type config struct{ Zone string }

func read() (c config, err error) { return c, settings.Decode(&c) }

func init() {
	validate.Settings(func() error {
		_, err := read()
		return err
	})
	admit.Register(func() (admit.Policy, error) {
		c, err := read()
		return func() admit.Verdict { return judge(c) }, err
	})
	merge.Register(func() (merge.Policy, error) { return choose, nil })
	filter.Register(func() (filter.Policy, error) { return sift, nil })
}

func judge(c config) admit.Verdict {
	if volumes.Exists() && zone.String() != c.Zone {
		admit.Warn("volumes in another zone")
		admit.Annotate("zone", zone.String())
		return admit.Hold("OtherZone", "the volumes are elsewhere").RetryAfter(admit.Minute)
	}
	if _, ok := labels.Lookup("team"); !ok {
		admit.Patch(patch.Add("/metadata/labels/team", patch.String("none")))
	}
	return admit.Allow()
}

func choose() merge.Verdict {
	for i := range running.Len() {
		if running.Of(i) && len(merge.JSON(i)) > 0 {
			return merge.Win(i)
		}
	}
	return merge.Abstain()
}

func sift() filter.Verdict {
	if changed.Only(request.Annotations) {
		if sdk.Log.Enabled(sdk.LevelDebug) {
			sdk.Log.Debug("only annotations")
		}
		return filter.Defer(sdk.Minute)
	}
	return filter.Pass()
}

func main() {}
