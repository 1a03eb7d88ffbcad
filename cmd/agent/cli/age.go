package cli

import (
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Age returns how long ago at was, for a column of a table. A time in the future has the
// age 0s. Such a time occurs if the node's clock was set back.
func Age(now, at time.Time) string {
	return duration.HumanDuration(max(now.Sub(at), 0))
}
