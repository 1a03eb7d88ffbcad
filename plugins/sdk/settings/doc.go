// Package settings decodes the [settings] of the policy document into a struct. A setting
// that the struct does not have is an error, which suggests the most similar name in the
// struct. A setting of another type is an error, too.
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
// Instead of Decode, Walk calls a function for each setting, which makes a plugin smaller.
//
// Comes in: the settings of the agent. Goes out: Go values. It runs on the one goroutine of
// the agent's call, in setup.
//
// The package uses reflect.Type but not reflect.Value, which would make a plugin larger by
// 0.3 MB. It has a JSON parser of its own, because encoding/json would add more than a
// megabyte.
package settings
