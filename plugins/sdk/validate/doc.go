// Package validate lets a plugin check its settings without the rest of its setup. A plugin
// that imports the package has the function "wardlet_validate_settings". The agent calls
// this function before setup, and a tool may call it without loading the policy. A plugin
// need not import the package: if setup returns an error, the policy is refused, too.
//
// Comes in: a function that reads the settings. Goes out: an error if the settings are
// invalid. It runs on the one goroutine of the agent's call.
package validate
