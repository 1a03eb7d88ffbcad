package top

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/wardlet/wardlet/cmd/agent/cli"
)

// app has the methods of the commands.
type app struct{ *cli.App }

// Command returns the command top.
func Command(a *cli.App) *cobra.Command { return (&app{a}).topCommand() }

func (a *app) topCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Show the CPU and memory that pods and the node use",
		Long: "Shows the CPU and memory that pods and the node use now, in the columns of kubectl top. The agent\n" +
			"measures when it is asked; the first time, that takes a second.",
		Args: cli.KnownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.WrongUsage(cmd, errors.New("say what to show: pods or node"))
		},
	}
	a.AddSocketFlag(cmd)
	cmd.AddCommand(a.podsCommand(), a.nodeCommand())
	return cmd
}

// The formats of top.
var formats = []string{cli.FormatTable, cli.FormatJSON, cli.FormatYAML}

// topFlags are the flags of every subcommand.
type topFlags struct {
	output    string
	noHeaders bool
}

func (f *topFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.output, "output", "o", cli.FormatTable, "table, json or yaml")
	cmd.Flags().BoolVar(&f.noHeaders, "no-headers", false, "print nothing but the rows of the table")
}

func (f *topFlags) check(cmd *cobra.Command) error {
	if !slices.Contains(formats, f.output) {
		return cli.WrongUsage(cmd, fmt.Errorf("unknown output %q; want table, json or yaml", f.output))
	}
	return nil
}

// metricsAPI is the API of the objects that -o json and -o yaml print.
const metricsAPI = "metrics.k8s.io/v1beta1"

// use is the CPU and memory that something uses; nil is unknown.
type use struct {
	// cpu is in nanoseconds per second, memory in bytes.
	cpu, memory *uint64
	at          metav1.Time
}

func useOf(c *statsapi.CPUStats, m *statsapi.MemoryStats) use {
	u := use{}
	if c != nil {
		u.cpu, u.at = c.UsageNanoCores, c.Time
	}
	if m != nil {
		u.memory = m.WorkingSetBytes
	}
	return u
}

// add adds the use of another thing. The sum is unknown if one of them is.
func (u *use) add(other *use) {
	sum := func(a, b *uint64) *uint64 {
		if a == nil || b == nil {
			return nil
		}
		return new(*a + *b)
	}
	u.cpu, u.memory = sum(u.cpu, other.cpu), sum(u.memory, other.memory)
	if u.at.Before(&other.at) {
		u.at = other.at
	}
}

// list returns the use in the form of metrics.k8s.io.
func (u *use) list() v1.ResourceList {
	out := v1.ResourceList{}
	if u.cpu != nil {
		out[v1.ResourceCPU] = *resource.NewScaledQuantity(int64(*u.cpu), resource.Nano)
	}
	if u.memory != nil {
		out[v1.ResourceMemory] = *resource.NewQuantity(int64(*u.memory), resource.BinarySI)
	}
	return out
}

// unknown stands in cells for a value that is not known.
const unknown = "-"

// cells returns CPU and memory as kubectl top prints them.
func (u *use) cells() (cpu, memory string) {
	cpu, memory = unknown, unknown
	if u.cpu != nil {
		cpu = fmt.Sprintf("%dm", (*u.cpu+999_999)/1_000_000)
	}
	if u.memory != nil {
		memory = fmt.Sprintf("%dMi", *u.memory>>20)
	}
	return cpu, memory
}

// The columns by which rows can be sorted.
const (
	byCPU    = "cpu"
	byMemory = "memory"
)

func addSortFlag(cmd *cobra.Command, by *string) {
	cmd.Flags().StringVar(by, "sort-by", "", "cpu or memory, the highest first (default: by name)")
}

func checkSort(cmd *cobra.Command, by string) error {
	if by != "" && by != byCPU && by != byMemory {
		return cli.WrongUsage(cmd, fmt.Errorf("unknown column %q; want %s", by, strings.Join([]string{byCPU, byMemory}, " or ")))
	}
	return nil
}

// higher compares two uses for sorting: the higher value comes first, an unknown one last.
func higher(by string, a, b *use) int {
	pick := func(u *use) *uint64 {
		switch by {
		case byCPU:
			return u.cpu
		case byMemory:
			return u.memory
		}
		return nil
	}
	x, y := pick(a), pick(b)
	switch {
	case x == nil && y == nil:
		return 0
	case x == nil:
		return 1
	case y == nil || *x > *y:
		return -1
	case *x < *y:
		return 1
	}
	return 0
}
