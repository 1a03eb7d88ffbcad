package privateruntime

import (
	"bufio"
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

// parseRules parses the output of iptables-save: *table, :CHAIN POLICY [counters], -A CHAIN ...,
// COMMIT.
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

// ruleMark returns the text that CNI's plugins, and this package, write into the comments of a
// network's rules.
func ruleMark(network string) string { return `name: \"` + network + `\" ` }

// planRemoval returns the iptables-restore input that deletes the rules of a network and the chains
// made for its pods; empty if there are none.
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

// writePlan writes the deletions in one table: first the rules that jump to chains, then the
// chains.
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

// jumpTarget returns the chain to which a rule jumps.
func jumpTarget(rule string) string {
	fields := strings.Fields(rule)
	at := slices.Index(fields, "-j")
	if at < 0 || at+1 >= len(fields) {
		return ""
	}
	return fields[at+1]
}

// applyRules runs iptables-restore with a plan. It applies the changes to a table completely or not
// at all.
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

// removeRules deletes the rules of the runtime's network that CNI DEL has not removed.
func (i instance) removeRules(ctx context.Context) error {
	tables, err := saveRules(ctx)
	if err != nil {
		return err
	}
	return applyRules(ctx, planRemoval(tables, i.network()))
}

// sharedChains are the chains that CNI's portmap plugin makes once and never removes.
var sharedChains = []string{"CNI-HOSTPORT-DNAT", "CNI-HOSTPORT-SETMARK", "CNI-HOSTPORT-MASQ"}

// findSharedChains returns the shared chains that exist, as "TABLE CHAIN".
func findSharedChains(tables []ruleTable) []string {
	var found []string
	for _, table := range tables {
		for _, chain := range table.chains {
			if slices.Contains(sharedChains, chain.name) {
				found = append(found, table.name+" "+chain.name)
			}
		}
	}
	return found
}

// planSharedRemoval returns the iptables-restore input that deletes the shared chains, with the
// rules that jump to them. It keeps chains that existed before the first runtime or that still
// serve a pod. It is empty if no chain is to be deleted.
func planSharedRemoval(tables []ruleTable, before []string) string {
	var plan strings.Builder
	for _, table := range tables {
		var chains, deletions []string
		for _, chain := range table.chains {
			if slices.Contains(sharedChains, chain.name) && !slices.Contains(before, table.name+" "+chain.name) {
				chains = append(chains, chain.name)
			}
		}
		for _, rule := range table.rules {
			// A rule in CNI-HOSTPORT-DNAT belongs to a pod: the CNI of another runtime now uses the
			// chains.
			if strings.HasPrefix(rule, "-A CNI-HOSTPORT-DNAT ") {
				chains, deletions = nil, nil
				break
			}
			if slices.Contains(chains, jumpTarget(rule)) {
				deletions = append(deletions, strings.Replace(rule, "-A ", "-D ", 1))
			}
		}
		writePlan(&plan, table.name, deletions, chains)
	}
	return plan.String()
}

// madeTables are the nft tables that iptables makes when it is first used, and that stay when they
// are empty again. An empty table filters nothing, and a machine may have no nft or keep its rules
// elsewhere; so nothing here is an error.
var madeTables = []string{"ip nat", "ip6 nat", "ip filter", "ip6 filter"}

// listTables returns the tables of madeTables that exist, and none on a machine without nft.
func listTables(ctx context.Context) []string {
	listing, err := runNFT(ctx, "list tables")
	if err != nil {
		return nil
	}
	var found []string
	for line := range strings.Lines(listing) {
		if table := strings.TrimPrefix(strings.TrimSpace(line), "table "); slices.Contains(madeTables, table) {
			found = append(found, table)
		}
	}
	return found
}

// removeTables deletes the empty tables that did not exist before the first runtime.
func removeTables(ctx context.Context, before []string) {
	for _, table := range listTables(ctx) {
		if slices.Contains(before, table) {
			continue
		}
		if listing, err := runNFT(ctx, "list table "+table); err == nil {
			// Another process may have added a rule meanwhile: then the table must stay.
			_, _ = runNFT(ctx, planTableRemoval(table, listing))
		}
	}
}

// planTableRemoval returns the nft input that deletes a table. It is empty if the listing has more
// than chains that accept everything. It deletes the chains first, so that the whole removal fails
// if a chain has got a rule meanwhile.
func planTableRemoval(table, listing string) string {
	var plan strings.Builder
	lines := bufio.NewScanner(strings.NewReader(listing))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		chain, isChain := strings.CutPrefix(line, "chain ")
		switch {
		case isChain:
			fmt.Fprintf(&plan, "delete chain %s %s\n", table, strings.TrimSuffix(chain, " {"))
		case line == "", line == "}", strings.HasPrefix(line, "table "), strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "type ") && strings.HasSuffix(line, "policy accept;"):
		default:
			return ""
		}
	}
	fmt.Fprintf(&plan, "delete table %s\n", table)
	return plan.String()
}

func runNFT(ctx context.Context, input string) (string, error) {
	nft, err := lookSystem("nft")
	if err != nil {
		return "", err
	}
	command := exec.CommandContext(ctx, nft, "-f", "-")
	command.Stdin = strings.NewReader(input)
	output, err := command.Output()
	return string(output), err
}
