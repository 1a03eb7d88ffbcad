package cli

import (
	"cmp"
	"fmt"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/printable"
)

// Hooks are those of policies.
var Hooks = []string{api.HookAdmit, api.HookMerge, api.HookFilter, api.HookConnect}

// OwnerOf names whose set it is.
func OwnerOf(set *api.PolicySet) string { return cmp.Or(set.Tenant, config.OperatorName) }

// ShortDigest returns the first digits of a digest.
func ShortDigest(digest string) string { return digest[:min(len(digest), 12)] }

// Evictions says how many pods of a policy were evicted and how many are to be.
func Evictions(r *api.PolicyReview) string {
	text := fmt.Sprintf("%d of %d pods evicted", r.Evicted, r.Of)
	if r.Waiting == 0 {
		return text
	}
	text += fmt.Sprintf(", %d wait", r.Waiting)
	if r.Waits != "" {
		text += " " + printable.Line(r.Waits)
	}
	return text
}
