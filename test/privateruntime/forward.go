package privateruntime

import (
	"context"
	"fmt"
	"slices"
)

// allowForwarding lets the pods' packets through on a machine that forwards nothing by default, as one with Docker does.
// Elsewhere it changes nothing. removeRules deletes the rules by their mark.
func (i instance) allowForwarding(ctx context.Context) error {
	tables, err := saveRules(ctx)
	if err != nil {
		return err
	}
	return applyRules(ctx, planForwarding(tables, i))
}

// planForwarding returns the iptables-restore input for it; empty when packets are forwarded anyway.
func planForwarding(tables []ruleTable, i instance) string {
	blocks := func(table ruleTable) bool {
		return table.name == "filter" && slices.Contains(table.chains, ruleChain{"FORWARD", "DROP"})
	}
	if !slices.ContainsFunc(tables, blocks) {
		return ""
	}
	comment := `-m comment --comment "` + ruleMark(i.network()) + `id: \"bridge\""`
	return fmt.Sprintf("*filter\n-I FORWARD -i %[1]s %[2]s -j ACCEPT\n-I FORWARD -o %[1]s %[2]s -j ACCEPT\nCOMMIT\n", i.bridge(), comment)
}
