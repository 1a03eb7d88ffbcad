package policy

import (
	"time"

	"github.com/wardlet/wardlet/core/api"
)

// connectPatience is how long a question about a connection may be put off: a user waits for
// the answer.
const connectPatience = 10 * time.Second

// unanswered is the answer of a policy that has none: on_error is about pods. Root on the
// local socket is never locked out by that.
func unanswered(c *api.Connection) api.Answer {
	if c != nil && c.ByLocalRoot() {
		return api.Allow
	}
	return api.Deny
}

// failedConnection says why a failure came to an answer.
func failedConnection(answer api.Answer) string {
	if answer == api.Allow {
		return " (root on the local socket passes where a policy fails)"
	}
	return " (connections are denied where a policy fails)"
}
