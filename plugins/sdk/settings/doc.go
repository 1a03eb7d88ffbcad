// Package settings decodes the [settings] of the policy document into a
// struct. What does not fit is an error: a setting that the struct does not
// have, with the nearest that it has, and one of another type.
//
//	type config struct {
//		Allow         []string
//		RequireDigest bool              `setting:"require_digest"`
//		Registries    map[string]string
//	}
//
//	func setup() (admit.Policy, error) {
//		c := config{Allow: []string{"*/*"}} // what is not set stays
//		if err := settings.Decode(&c); err != nil {
//			return nil, err
//		}
//		…
//
// Walk goes through the table by hand instead, which makes a plugin smaller.
//
// Comes in: the settings, as the agent has them. Goes out: Go values. It runs
// on the one goroutine of the agent's call, in setup.
//
// The package links the types of reflect, but not its values: those would make
// a plugin larger by 0.3 MB. It reads JSON by itself: encoding/json would add
// more than a megabyte.
package settings
