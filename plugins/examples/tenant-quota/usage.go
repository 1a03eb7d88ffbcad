package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/str"
)

// usage is what counts against a quota.
type usage struct {
	quota *quota
	// used is what other pods take; before is what the pod that is judged takes
	// already: an earlier version of it, or the pod that it replaces.
	used, before amounts
}

// count goes through the pods on the node once, for all quotas.
func (r *reader) count(all []usage, ours string) {
	uid, replaced := uid.String(), replaces.String()
	namespaces, uids := podNamespaces.Cursor(), podUIDs.Cursor()
	var requests [pod]sdk.Cursor
	for resource := range requests {
		requests[resource] = podRequests[resource].Cursor()
	}
	for namespace, ok := namespaces.Next(); ok; namespace, ok = namespaces.Next() {
		var elements [pod]sdk.Value
		for resource := range requests {
			elements[resource] = requests[resource].Take()
		}
		id, of := uids.Take().String(), namespace.String()
		before := id != "" && (str.Equal(id, uid) || str.Equal(id, replaced))
		var takes amounts // read only if they count
		for i := range all {
			u := &all[i]
			if !u.quota.shares(of, ours) {
				continue
			}
			if takes[pod] == 0 {
				takes[pod] = one
				for resource := range elements {
					takes[resource] = r.read(elements[resource])
				}
			}
			if before {
				u.before.add(&takes)
			} else {
				u.used.add(&takes)
			}
		}
	}
}

// over reports whether what is used, with what is asked, is more than the quota
// has of a resource. That a pod asks no more of it than it had before never is.
func (u *usage) over(resource int, asked *amounts) bool {
	return u.quota.bounds[resource] && asked[resource] > u.before[resource] && u.exceeds(resource, asked)
}

func (u *usage) exceeds(resource int, asked *amounts) bool {
	return u.used[resource].Plus(asked[resource]) > u.quota.limit[resource]
}

// maxSaid is after how many bytes nothing more is said: a pod may be in many
// quotas.
const maxSaid = 3 << 10

// say says of each resource how much is used, asked and allowed; if only is set,
// only of those of which there is not enough. It reports whether there are any.
func (u *usage) say(t *sdk.Text, asked *amounts, only bool) (fault bool) {
	quiet := t.Len() > maxSaid
	separator := u.quota.said
	if t.Len() > 0 && !quiet {
		t.Add("\n")
	}
	for r := range resources {
		over := u.over(r, asked)
		fault = fault || over
		if !u.quota.bounds[r] || quiet || only && !over {
			continue
		}
		t.Add(separator, resourceNames[r], ": ")
		write(t, r, u.used[r], " used by other pods, ")
		write(t, r, asked[r], " asked, ")
		write(t, r, u.quota.limit[r], " allowed")
		separator = "; "
		if !over && u.exceeds(r, asked) {
			t.Add(" (no more than before)")
		}
	}
	return fault
}
