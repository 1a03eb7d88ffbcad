package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// row is the expected line of a pod in `get pods`, and the expected note below the table.
type row struct {
	pod, status, restarts string
	note                  []string
	// noteOnly: the line itself is not printed.
	noteOnly bool
}

// showPods runs `wardlet get pods` until it prints what is expected. Then it prints the command and
// the parts of its output that are about these pods.
func (t *tour) showPods(ctx context.Context, rows ...row) error {
	args := []string{"get", "pods"}
	if len(rows) == 1 {
		args = append(args, nameOf(rows[0].pod))
	}
	var shown []string
	err := observe(ctx, "wardlet "+strings.Join(args, " ")+" shows it", func(ctx context.Context) error {
		out, err := t.node.Wardlet(ctx, args...)
		if err != nil {
			return err
		}
		shown, err = pick(out, rows)
		return err
	})
	if err != nil {
		return err
	}
	if t.titled {
		shown = shown[1:]
	}
	t.titled = true
	t.showCommand(args...)
	t.out.output(shown...)
	return nil
}

// showCommand prints a wardlet command as the user would run it.
func (t *tour) showCommand(args ...string) {
	t.out.command(append(append([]string{"wardlet"}, args...), "--config", t.node.ConfigFile())...)
}

// pick returns the header of a table of pods and, in order, each row's line and note. If something
// is missing, it returns an error with the table.
func pick(table string, rows []row) ([]string, error) {
	lines := strings.Split(strings.TrimSpace(table), "\n")
	picked := []string{strings.TrimRight(lines[0], " ")}
	var missing []error
	take := func(what string, is func(line string) bool, printed bool) {
		at := slices.IndexFunc(lines, is)
		if at < 0 {
			missing = append(missing, errors.New("there is no "+what))
		} else if printed {
			picked = append(picked, strings.TrimSpace(lines[at]))
		}
	}
	for _, r := range rows {
		take(fmt.Sprintf("row of %s with %s and %s restarts", nameOf(r.pod), r.status, r.restarts), r.isRow, !r.noteOnly)
	}
	for _, r := range rows {
		if len(r.note) > 0 {
			take(fmt.Sprintf("note on %s with %q", nameOf(r.pod), r.note), r.isNote, true)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("%w in\n%s", errors.Join(missing...), strings.Join(lines, "\n"))
	}
	return picked, nil
}

// isRow reports whether a line "NAMESPACE NAME READY STATUS RESTARTS AGE" is that of the row.
func (r row) isRow(line string) bool {
	fields := strings.Fields(line)
	return len(fields) >= 6 && slices.Equal(fields[:2], []string{"default", nameOf(r.pod)}) &&
		slices.Equal(fields[3:5], []string{r.status, r.restarts})
}

func (r row) isNote(line string) bool {
	return strings.HasPrefix(strings.TrimSpace(line), "default/"+nameOf(r.pod)+": ") &&
		!slices.ContainsFunc(r.note, func(part string) bool { return !strings.Contains(line, part) })
}

// showAnswer prints that a pod has just answered over HTTP, and how.
func (t *tour) showAnswer(p *v1.Pod, how string) {
	t.out.act("GET %s answers %q %s", urlOf(p), greeting(p), how)
}
