package metrics

import "sync"

// other stands for all names beyond the limit. It is no name that a policy or a
// tenant could have.
const other = "<other>"

// names tells the first few names apart that it gets. It is safe for concurrent
// use.
type names struct {
	most int

	mu    sync.Mutex
	known map[string]bool
}

func newNames(most int) *names { return &names{most: most, known: map[string]bool{}} }

// of is the name, or other where too many came before it.
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

// The most names of policies that are counted apart in the life of an agent: of
// the operator's as many as a directory may have, of each tenant's fewer.
const (
	maxOperatorPolicies = 256
	maxTenantPolicies   = 32
)

// policyNames tells the names of policies apart, for each owner on its own. It is
// safe for concurrent use.
type policyNames struct {
	mu sync.Mutex
	of map[string]*names
}

// policy is what a policy is called in metrics. tenant is its owner, Operator for
// the operator.
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

// tenantName is what a tenant is called in metrics, empty for none.
func tenantName(tenant string) string {
	if tenant == "" {
		return Operator
	}
	return tenant
}
