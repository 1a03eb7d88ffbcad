package policycmd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/policy/author"
	"github.com/wardlet/wardlet/core/printable"
)

// benchFlags are the flags of policy bench.
type benchFlags struct {
	pods          []string
	output        string
	fuelPerSecond int64
	author.BenchOptions
}

func (a *app) policyBenchCommand() *cobra.Command {
	var o benchFlags
	cmd := &cobra.Command{
		Use:   "bench DIR|FILE [--pod FILE...]",
		Short: "Measure the cost of policies against their limits",
		Long: "Asks the plugin again and again about every [[test]] of the policies of a directory or of one\n" +
			"document, or about the pods that are named. Fuel, memory and output are exact and the same on\n" +
			"every machine; they are shown as fractions of [limits]. EXTRA is the cost of a call for the host\n" +
			"beside its fuel, in units of fuel. Times are those of this machine, now: P99 is the median of the\n" +
			"rounds, SETTLE the time after the answer until the plugin is ready again. PER SECOND is how many\n" +
			"such decisions the fuel_per_second of a tenant pays for, without their records.",
		Example: "  wardlet policy bench .\n" +
			"  wardlet policy bench team-labels.toml --pod web.yaml --count 10000 -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneDraft(cmd, args, o.output); err != nil {
				return err
			}
			if o.Count < 1 || o.Rounds < 1 || o.Count > 1_000_000 || o.Rounds > 1000 || o.fuelPerSecond < 1 {
				return cli.WrongUsage(cmd, errors.New("--count is 1 to 1000000, --rounds 1 to 1000, --fuel-per-second 1 or more"))
			}
			return a.benchPolicies(cmd, args[0], &o)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.pods, "pod", nil, "`FILE` with a pod to ask about instead of those of the tests; may be repeated")
	f.IntVarP(&o.Count, "count", "n", 1000, "calls of a round")
	f.IntVar(&o.Rounds, "rounds", 5, "rounds")
	f.Int64Var(&o.fuelPerSecond, "fuel-per-second", 500_000_000, "fuel_per_second of the tenant")
	f.StringVarP(&o.output, "output", "o", "", "json or yaml (default: tables)")
	return cmd
}

// benchReport is the measured cost of policies.
type benchReport struct {
	Policies []*author.Bench `json:"policies"`
	// Faults say why other policies could not be measured.
	Faults []string `json:"faults"`
}

func newBenchReport(all []*author.Bench, err error) benchReport {
	r := benchReport{all, []string{}}
	if err != nil {
		r.Faults = strings.Split(err.Error(), "\n")
	}
	return r
}

func (a *app) benchPolicies(cmd *cobra.Command, path string, o *benchFlags) error {
	cfg, err := a.draftConfig(cmd)
	if err != nil {
		return err
	}
	files := cli.Manifests{}
	for _, pod := range o.pods {
		text, err := files.Read(cmd.Context(), pod)
		if err != nil {
			return err
		}
		o.Pods = append(o.Pods, author.Manifest{Path: pod, Text: text})
	}
	all, err := author.MeasurePolicies(cmd.Context(), cfg, path, o.BenchOptions)
	if o.output != "" && len(all) > 0 {
		return errors.Join(cli.PrintObject(a.Out, o.output, newBenchReport(all, err)), err)
	}
	for _, b := range all {
		a.printBench(b, o.fuelPerSecond)
	}
	return err
}

func (a *app) printBench(b *author.Bench, perSecond int64) {
	fmt.Fprintf(a.Out, "%s: module of %d bytes; its start takes %d fuel, and took %s with the compilation; another instance %s\n",
		printable.Line(b.Policy), b.ModuleBytes, b.StartFuel, rounded(b.Start), rounded(b.Rebuild))
	fmt.Fprintf(a.Out, "memory: %d of %d pages (%s)\n", b.MemoryPages, b.Limits.MemoryPages, share(int64(b.MemoryPages), int64(b.Limits.MemoryPages)))
	rows := [][]string{{"TEST", "ANSWER", "FUEL", "OF LIMIT", "OUTPUT", "OF LIMIT", "EXTRA", "WRITTEN", "MEDIAN", "P99", "SETTLE", "PER SECOND"}}
	for i := range b.Calls {
		c := &b.Calls[i]
		fuel := strconv.FormatInt(c.Fuel, 10)
		if c.HostFuel > 0 {
			fuel += "+" + strconv.FormatInt(c.HostFuel, 10)
		}
		written := "unknown"
		if c.WrittenPages >= 0 {
			written = strconv.Itoa(4*c.WrittenPages) + " KiB"
		}
		answer := c.Answer
		if c.NotAsked != "" {
			answer += " (not asked)"
		}
		rows = append(rows, []string{
			printable.Line(c.Name), printable.Line(answer), fuel, share(c.Fuel, int64(b.Limits.Fuel)),
			strconv.Itoa(c.OutputBytes) + " B", share(int64(c.OutputBytes), int64(b.Limits.OutputBytes)), strconv.FormatInt(c.ExtraFuel, 10), written,
			rounded(c.Median), rounded(c.P99), rounded(c.Settled), strconv.FormatInt(perSecond/max(c.Cost(), 1), 10),
		})
	}
	t := cli.Table{W: a.Out}
	t.Print(rows...)
	fmt.Fprintf(a.Out, "Times are of this machine. PER SECOND is with fuel_per_second = %d, without records.\n", perSecond)
}

// rounded formats a time with three digits.
func rounded(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}
