package decisionlog

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/wardlet/wardlet/core/policy/sched"
	"github.com/wardlet/wardlet/core/state"
)

// RecordByteFuel is what a byte on record takes in fuel, out of the budget of the
// tenant whose pod it is about: some half a microsecond of a processor. Far less of
// that is work; but the disk is everybody's, and flash wears out. 10 kB cost
// what a policy may take by default.
const RecordByteFuel = 1000

// maxPaidDocuments is how many documents of a tenant's records are known to be paid.
const maxPaidDocuments = 256

// PaidRecords are Records for which tenants pay: who decides much writes much, also
// where its policies take next to nothing. They are safe for concurrent use.
type PaidRecords struct {
	Records

	budgets *sched.Budgets
	now     func() time.Time

	mu sync.Mutex
	// paid are the digests of documents, by tenant: they are on the disk, and records
	// that name them again do not bring them there again.
	paid map[string]map[string]bool
}

// NewPaidRecords returns Records whose writes are paid from the budgets.
func NewPaidRecords(of Records, from *sched.Budgets, now func() time.Time) *PaidRecords {
	return &PaidRecords{Records: of, budgets: from, now: now, paid: map[string]map[string]bool{}}
}

// Append implements Records. What is not written costs nothing.
func (p *PaidRecords) Append(tenant string, entries []state.DecisionEntry) []error {
	errs := p.Records.Append(tenant, entries)
	if p.budgets.Limits(tenant) {
		p.budgets.Spend(tenant, p.bytes(tenant, entries, errs)*RecordByteFuel, p.now())
	}
	return errs
}

// bytes is how much was written for entries. Where a document came again because
// the first of it was old, that does not count.
func (p *PaidRecords) bytes(tenant string, entries []state.DecisionEntry, errs []error) (bytes int64) {
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
