package decisionlog

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/state/decisions"
)

// maxPaidDocuments is how many paid documents of a tenant are remembered.
const maxPaidDocuments = 256

// PaidRecords are Records that tenants pay for: many decisions write much, even if they
// use little fuel. They are safe for concurrent use.
type PaidRecords struct {
	Records

	budgets *sched.Budgets
	now     func() time.Time

	mu sync.Mutex
	// paid are the digests of documents that are on the disk, by tenant.
	paid map[string]map[string]bool
}

// NewPaidRecords returns Records whose writes are paid from the budgets.
func NewPaidRecords(of Records, from *sched.Budgets, now func() time.Time) *PaidRecords {
	return &PaidRecords{Records: of, budgets: from, now: now, paid: map[string]map[string]bool{}}
}

// Append implements Records. What is not written costs nothing.
func (p *PaidRecords) Append(tenant string, entries []decisions.Entry) []error {
	errs := p.Records.Append(tenant, entries)
	if p.budgets.Limits(tenant) {
		p.budgets.Spend(tenant, p.bytes(tenant, entries, errs)*sched.RecordByteFuel, p.now())
	}
	return errs
}

// bytes returns how many bytes were written for entries. A document that is written again
// because its first copy is old does not count.
func (p *PaidRecords) bytes(tenant string, entries []decisions.Entry, errs []error) (bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	paid := p.paid[tenant]
	for i := range entries {
		text, err := json.Marshal(entries[i].Record)
		if errs[i] != nil || err != nil {
			continue
		}
		bytes += int64(len(text))
		for digest, document := range entries[i].Inputs {
			if paid[digest] {
				continue
			}
			if paid == nil || len(paid) >= maxPaidDocuments {
				paid = map[string]bool{}
				p.paid[tenant] = paid
			}
			paid[digest] = true
			bytes += int64(len(digest) + len(document))
		}
	}
	return bytes
}
