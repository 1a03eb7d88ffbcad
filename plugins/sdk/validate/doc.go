// Package validate lets a plugin check its settings alone, without what else
// its setup does. A plugin that imports it has the function
// "wardlet_validate_settings": the agent calls it before setup, and a tool may
// call it without loading the policy. Others need not import it: what setup
// refuses is refused too.
//
// Comes in: a function that reads the settings. Goes out: whether they are
// good. It runs on the one goroutine of the agent's call.
package validate
