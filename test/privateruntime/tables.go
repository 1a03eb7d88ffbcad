package privateruntime

import (
	"bufio"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// iptables makes these nft tables as soon as it is asked for one, and leaves them when they are empty again. An empty
// table filters nothing, and a machine may have no nft or keep its rules elsewhere: hence nothing here is an error.
var madeTables = []string{"ip nat", "ip6 nat", "ip filter", "ip6 filter"}

// listTables returns those of them that are there, and none on a machine without nft.
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

// removeTables deletes the empty ones that were not there before the first runtime.
func removeTables(ctx context.Context, before []string) {
	for _, table := range listTables(ctx) {
		if slices.Contains(before, table) {
			continue
		}
		if listing, err := runNFT(ctx, "list table "+table); err == nil {
			// Another process may have added a rule since then: then the table is to stay.
			_, _ = runNFT(ctx, planTableRemoval(table, listing))
		}
	}
}

// planTableRemoval returns the nft input that deletes a table; empty when the listing shows more than chains that accept
// everything. Deleting the chains first makes it fail whole if one has got a rule meanwhile.
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
