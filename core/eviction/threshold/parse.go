package threshold

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// The tables of [eviction] that name signals.
const (
	TableHard    = "hard"
	TableSoft    = "soft"
	TableGrace   = "soft_grace_period"
	TableReclaim = "minimum_reclaim"
)

// Settings are these tables. The keys are signals. The values of Hard, Soft and MinimumReclaim are
// quantities such as "100Mi", or percentages of the capacity such as "10%".
type Settings struct {
	Hard, Soft, MinimumReclaim map[string]string
	SoftGracePeriod            map[string]time.Duration
}

// Fault is something in the tables that cannot be used.
type Fault struct {
	// Table is one of the tables, and Signal the key in it.
	Table, Signal string
	// Message says what is wrong and what is possible instead.
	Message string
}

// Parse returns the thresholds in the order of Signals, for each signal the hard one first. The
// values "0%" and "100%" mean no threshold. It also returns all faults, in the order of the tables
// and of the signals; entries with a fault are left out.
func Parse(s *Settings) ([]Threshold, []Fault) {
	p := parser{}
	hard, soft := p.values(TableHard, s.Hard, limit), p.values(TableSoft, s.Soft, limit)
	for _, signal := range slices.Sorted(maps.Keys(s.SoftGracePeriod)) {
		if grace := s.SoftGracePeriod[signal]; p.known(TableGrace, signal) && grace < 0 {
			p.fault(TableGrace, signal, fmt.Sprintf("want 0s or more, found %s", grace))
		}
	}
	reclaim := p.values(TableReclaim, s.MinimumReclaim, more)
	var all []Threshold
	add := func(signal Signal, v *Value, grace time.Duration) {
		if v != nil {
			all = append(all, Threshold{Signal: signal, Value: *v, Grace: grace, Reclaim: reclaim[signal]})
		}
	}
	for _, signal := range Signals() {
		add(signal, hard[signal], 0)
		grace, has := s.SoftGracePeriod[string(signal)]
		if soft[signal] != nil && !has {
			p.fault(TableSoft, string(signal), fmt.Sprintf("needs a grace period: add it to eviction.%s, for example %q = \"90s\"", TableGrace, signal))
			continue
		}
		add(signal, soft[signal], grace)
	}
	return all, p.faults
}

type parser struct{ faults []Fault }

func (p *parser) fault(table, signal, message string) {
	p.faults = append(p.faults, Fault{Table: table, Signal: signal, Message: message})
}

// known reports whether there is such a signal, and adds a fault if not.
func (p *parser) known(table, signal string) bool {
	if slices.Contains(Signals(), Signal(signal)) {
		return true
	}
	var names []string
	for _, s := range Signals() {
		names = append(names, string(s))
	}
	message := "unknown signal; known are " + strings.Join(names, ", ")
	switch {
	case strings.HasPrefix(signal, "containerfs."):
		message = "there are no thresholds for the file system of containers: a kubelet ignores them, too; set those of nodefs or imagefs"
	case signal == string(AllocatableMemoryAvailable):
		message = "it has the threshold of " + string(MemoryAvailable) + " where node.system_reserved or node.kube_reserved limits the memory of pods; set that one"
	}
	p.fault(table, signal, message)
	return false
}

// values parses a table. Disabled signals and faults have no value.
func (p *parser) values(table string, texts map[string]string, parse func(text string) (*Value, error)) map[Signal]*Value {
	values := map[Signal]*Value{}
	for _, signal := range slices.Sorted(maps.Keys(texts)) {
		if !p.known(table, signal) {
			continue
		}
		v, err := parse(texts[signal])
		if err != nil {
			p.fault(table, signal, err.Error())
			continue
		}
		values[Signal(signal)] = v
	}
	return values
}

// limit parses the value of a threshold, nil for none.
func limit(text string) (*Value, error) {
	if text == "0%" || text == "100%" {
		return nil, nil
	}
	v, err := value(text)
	switch {
	case err != nil:
		return nil, err
	case v.Quantity == nil && (v.Share < 0 || v.Share > 1):
		return nil, fmt.Errorf(`want 0%% to 100%%, found %q`, text)
	case v.Quantity != nil && v.Quantity.Sign() <= 0:
		return nil, fmt.Errorf(`want a quantity above 0, or "0%%" for no threshold, found %q`, text)
	}
	return v, nil
}

// more parses a minimum reclaim.
func more(text string) (*Value, error) {
	v, err := value(text)
	switch {
	case err != nil:
		return nil, err
	case v.Quantity == nil && v.Share <= 0:
		return nil, fmt.Errorf(`want more than 0%%, found %q`, text)
	case v.Quantity != nil && v.Quantity.Sign() < 0:
		return nil, fmt.Errorf(`want a quantity of 0 or more, found %q`, text)
	}
	return v, nil
}

var errForm = errors.New(`want a quantity such as "100Mi", or a percentage such as "10%"`)

func value(text string) (*Value, error) {
	if strings.HasSuffix(text, "%") {
		percent, err := strconv.ParseFloat(strings.TrimRight(text, "%"), 32)
		if err != nil || math.IsNaN(percent) || math.IsInf(percent, 0) {
			return nil, fmt.Errorf("%w, found %.80q", errForm, text)
		}
		return &Value{Share: float32(percent) / 100}, nil
	}
	quantity, err := resource.ParseQuantity(text)
	if err != nil {
		return nil, fmt.Errorf("%w, found %.80q", errForm, text)
	}
	return &Value{Quantity: &quantity}, nil
}
