package metrics

import "sync"

// other is the label value for all names beyond the limit. No policy or tenant can have this name.
const other = "<other>"

// names accepts a limited number of names. It is safe for concurrent use.
type names struct {
	most int

	mu    sync.Mutex
	known map[string]bool
}

func newNames(most int) *names { return &names{most: most, known: map[string]bool{}} }

// of returns the name, or other if the limit was reached before this name.
func (n *names) of(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.known[name]:
	case len(n.known) == n.most:
		return other
	default:
		n.known[name] = true
	}
	return name
}

// The limits on the names of policies during an agent's life. The operator's limit is the number of
// policies in a directory; each tenant's is lower.
const (
	maxOperatorPolicies = 256
	maxTenantPolicies   = 32
)

// policyNames limits the names of policies separately for each owner. It is safe for concurrent
// use.
type policyNames struct {
	mu sync.Mutex
	of map[string]*names
}

// policy returns the name of a policy in metrics. tenant is its owner, Operator for the operator.
func (p *policyNames) policy(tenant, name string) string {
	p.mu.Lock()
	owner := p.of[tenant]
	if owner == nil {
		most := maxTenantPolicies
		if tenant == Operator {
			most = maxOperatorPolicies
		}
		owner = newNames(most)
		if p.of == nil {
			p.of = map[string]*names{}
		}
		p.of[tenant] = owner
	}
	p.mu.Unlock()
	return owner.of(name)
}

// tenantName returns the name of a tenant in metrics. An empty tenant is the operator.
func tenantName(tenant string) string {
	if tenant == "" {
		return Operator
	}
	return tenant
}
