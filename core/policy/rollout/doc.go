// Package rollout keeps the policy set of an owner's directory in force: it watches and
// reads the directory, loads the plugins, runs the policies' own tests, activates the set,
// and rolls it back if its plugins fail.
//
// Comes in: a directory; commands (Reload, Retry, Rollback); the opinions of decisions, for
// the probation of a set (Observe). Goes out: the set in force (Owner.Use), its state for
// display, and a call of changed when another set is in force.
//
// # Goroutines
//
// Owner.Run is the one goroutine that loads and activates sets of its owner. Other
// goroutines may call Use, Show and the commands.
//
// # A set is a transaction
//
// One attempt reads every file once, verifies the signature, compares the digests of the
// modules, loads every plugin and runs the tests. Only if all of that succeeds is the set
// activated, by the swap of one pointer; any fault refuses the whole set with every reason,
// and the set in force stays. Plugins that did not change are shared by the sets of an
// owner, and closed after the last decision of the last set that uses them. Refused content
// is tried again only when it changes, by another version of the agent, or by Retry.
//
// A set with new plugins is on probation: if these fail in too many decisions, the previous
// set is activated again and the content is refused. No tenant's pods alone can cause that
// for the operator's set.
//
// A directory that is missing or has no policy is refused, too: it may be a file system
// that is not mounted. Good sets are kept (Options.Kept); if none is in force, the last
// one is activated.
//
// Loading a tenant's policies is paid from a budget of the tenant, and waits for it between
// two steps. For a command that cannot wait, a load that waits is given up (urgent.go).
package rollout
