package main

import (
	"github.com/wardlet/wardlet/plugins/sdk"
	"github.com/wardlet/wardlet/plugins/sdk/str"
)

// usage is what pods use of a quota.
type usage struct {
	quota *quota
	// used is the sum for all other pods. before is what an earlier version of the judged
	// pod uses, or the pod that it replaces.
	used, before amounts
}

// count adds the pods on the node to all usages, in one pass. ours is the namespace of the
// judged pod.
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
		var takes amounts // read only if a quota applies
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

// over reports whether the used and the asked amounts of a resource together exceed the
// quota. It returns false if the pod asks for no more of the resource than before.
func (u *usage) over(resource int, asked *amounts) bool {
	return u.quota.bounds[resource] && asked[resource] > u.before[resource] && u.exceeds(resource, asked)
}

func (u *usage) exceeds(resource int, asked *amounts) bool {
	return u.used[resource].Plus(asked[resource]) > u.quota.limit[resource]
}

// maxSaid is the length, in bytes, from which nothing more is added to a text: many quotas
// may apply to a pod.
const maxSaid = 3 << 10

// say adds to a text how much of each resource is used, asked and allowed. If only is true,
// it leaves out resources of which there is enough. It reports whether there is a resource
// of which there is not enough.
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
