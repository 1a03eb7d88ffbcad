package privateruntime

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// ruleTable is one table of iptables-save's output.
type ruleTable struct {
	name   string
	chains []ruleChain
	rules  []string
}

type ruleChain struct{ name, policy string }

// saveRules returns all IPv4 rules of the machine.
func saveRules(ctx context.Context) ([]ruleTable, error) {
	save, err := lookSystem("iptables-save")
	if err != nil {
		return nil, fmt.Errorf("list the packet filter's rules: %w; %s", err, advice)
	}
	var problem bytes.Buffer
	command := exec.CommandContext(ctx, save)
	command.Stderr = &problem
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packet filter's rules: %w: %s", err, bytes.TrimSpace(problem.Bytes()))
	}
	return parseRules(string(output)), nil
}

// parseRules reads what iptables-save prints: *table, :CHAIN POLICY [counters], -A CHAIN ..., COMMIT.
func parseRules(saved string) []ruleTable {
	var tables []ruleTable
	for line := range strings.Lines(saved) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "*"); ok {
			tables = append(tables, ruleTable{name: name})
			continue
		}
		if len(tables) == 0 {
			continue
		}
		table := &tables[len(tables)-1]
		if definition, ok := strings.CutPrefix(line, ":"); ok {
			if fields := strings.Fields(definition); len(fields) >= 2 {
				table.chains = append(table.chains, ruleChain{fields[0], fields[1]})
			}
		} else if strings.HasPrefix(line, "-A ") {
			table.rules = append(table.rules, line)
		}
	}
	return tables
}

// ruleMark is what CNI's plugins, and this package, write into the comments of a network's rules.
func ruleMark(network string) string { return `name: \"` + network + `\" ` }

// planRemoval returns the iptables-restore input that deletes the rules of a network, and the chains made for its pods;
// empty when there are none.
func planRemoval(tables []ruleTable, network string) string {
	var plan strings.Builder
	for _, table := range tables {
		var deletions, chains []string
		for _, rule := range table.rules {
			if !strings.Contains(rule, ruleMark(network)) {
				continue
			}
			deletions = append(deletions, strings.Replace(rule, "-A ", "-D ", 1))
			if target := jumpTarget(rule); strings.HasPrefix(target, "CNI-") && !slices.Contains(sharedChains, target) {
				chains = append(chains, target)
			}
		}
		slices.Sort(chains)
		chains = slices.Compact(chains)
		writePlan(&plan, table.name, deletions, chains)
	}
	return plan.String()
}

// writePlan adds one table: first the rules that lead into chains, then the chains.
func writePlan(plan *strings.Builder, table string, deletions, chains []string) {
	if len(deletions)+len(chains) == 0 {
		return
	}
	fmt.Fprintf(plan, "*%s\n", table)
	for _, deletion := range deletions {
		fmt.Fprintln(plan, deletion)
	}
	for _, chain := range chains {
		fmt.Fprintf(plan, "-F %s\n", chain)
	}
	for _, chain := range chains {
		fmt.Fprintf(plan, "-X %s\n", chain)
	}
	fmt.Fprintln(plan, "COMMIT")
}

// jumpTarget returns the chain a rule jumps to.
func jumpTarget(rule string) string {
	fields := strings.Fields(rule)
	at := slices.Index(fields, "-j")
	if at < 0 || at+1 >= len(fields) {
		return ""
	}
	return fields[at+1]
}

// applyRules hands a plan to iptables-restore, which carries a table out whole or not at all.
func applyRules(ctx context.Context, plan string) error {
	if plan == "" {
		return nil
	}
	restore, err := lookSystem("iptables-restore")
	if err != nil {
		return fmt.Errorf("change the packet filter's rules: %w; %s", err, advice)
	}
	command := exec.CommandContext(ctx, restore, "--noflush", "--wait", "10")
	command.Stdin = strings.NewReader(plan)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("change the packet filter's rules: %w: %s\n%s", err, bytes.TrimSpace(output), plan)
	}
	return nil
}

// removeRules deletes the rules of the runtime's network that CNI DEL left.
func (i instance) removeRules(ctx context.Context) error {
	tables, err := saveRules(ctx)
	if err != nil {
		return err
	}
	return applyRules(ctx, planRemoval(tables, i.network()))
}
