package cli

import (
	"cmp"
	"fmt"

	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/printable"
)

// Hooks are the hooks of policies.
var Hooks = []string{api.HookAdmit, api.HookMerge, api.HookFilter, api.HookConnect}

// OwnerOf returns the owner of a policy set: the tenant's name, or the operator.
func OwnerOf(set *api.PolicySet) string { return cmp.Or(set.Tenant, config.OperatorName) }

// ShortDigest returns the first digits of a digest.
func ShortDigest(digest string) string { return digest[:min(len(digest), 12)] }

// Evictions describes how many pods of a policy were evicted and how many are still to be evicted.
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
