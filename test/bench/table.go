package main

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"
)

// printTable prints the figures for a reader.
func printTable(out io.Writer, figures []figure) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "FIGURE\tVALUE\tBESIDE\tLIMIT\t")
	for i := range figures {
		f := &figures[i]
		peer, limit, verdict := "", "", ""
		if f.PeerValue != nil {
			peer = f.Peer + " " + shown(*f.PeerValue, f.Unit)
		}
		if f.Limit != nil {
			limit, verdict = f.Bound+" "+shown(*f.Limit, f.Unit), "ok"
		}
		if !f.OK {
			verdict = "MISSED"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", f.Name, shown(f.Value, f.Unit), peer, limit, verdict)
	}
	w.Flush()
}

func shown(value float64, unit string) string {
	switch unit {
	case "ns":
		if value < 1e5 {
			return time.Duration(value).Round(10 * time.Nanosecond).String()
		}
		return time.Duration(value).Round(100 * time.Nanosecond).String()
	case "bytes":
		if value >= 1<<20 {
			return strconv.FormatFloat(value/(1<<20), 'f', 1, 64) + " MiB"
		}
		return strconv.FormatFloat(value/(1<<10), 'f', 1, 64) + " KiB"
	case "ratio":
		return strconv.FormatFloat(value, 'f', 2, 64) + "x"
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}
