package get

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/api"
	"github.com/wardlet/wardlet/core/printable"
	"github.com/wardlet/wardlet/core/server/client"
)

func (a *app) getEventsCommand() *cobra.Command {
	var flags getFlags
	var namespace, about string
	var all bool
	cmd := &cobra.Command{
		Use:     "events [NAME...]",
		Aliases: []string{"event", "ev"},
		Short:   "Show the events of the pods of this node, the newest last",
		Long: "Shows the events that the agent remembers since it started: the newest ones for the pods of each\n" +
			"tenant, and for the pods without a tenant. An event that happened again is shown once; -o wide\n" +
			"shows how often. An event that is about no pod is the agent's own.",
		Example: "  wardlet get events\n  wardlet get events -n web -w\n  wardlet get events --for pod/web-edge-1 -o wide",
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := flags.check(cmd); err != nil {
				return err
			}
			if all {
				namespace = ""
			}
			p := eventPrinter{namespace: namespace, wide: flags.output == cli.FormatWide, now: a.Now}
			if about != "" {
				var err error
				if p.pod, err = podOf(about); err != nil {
					return cli.WrongUsage(cmd, err)
				}
			}
			c, err := a.Client(cmd)
			if err != nil {
				return err
			}
			g := getter{app: a, flags: flags, kind: "event", kinds: "events", columns: p.columns(), names: names, listKind: "EventList"}
			g.list = func(ctx context.Context) (listing, error) { return p.list(ctx, c) }
			g.stream = func(ctx context.Context, batch func(listing) error) error { return p.stream(ctx, c, batch) }
			return g.run(cmd.Context())
		},
	}
	flags.add(cmd)
	cmd.Flags().Lookup("watch").Usage = "go on, and print what happens"
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "", "only events of pods of this namespace")
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "events of pods of all namespaces, as without --namespace")
	cmd.Flags().StringVar(&about, "for", "", "only events of this pod, as pod/NAME")
	return cmd
}

// podOf parses the value of --for.
func podOf(about string) (name string, err error) {
	kind, name, ok := strings.Cut(about, "/")
	switch {
	case !ok || name == "" || strings.Contains(name, "/"):
		return "", fmt.Errorf("--for %q: want pod/NAME; --namespace says where it is", about)
	case kind != "pod" && kind != "pods" && kind != "po":
		return "", fmt.Errorf("--for %q: events are about pods; want pod/NAME", about)
	}
	return name, nil
}

// eventPrinter makes table rows of events.
type eventPrinter struct {
	// namespace and pod narrow the list. If namespace is empty, all namespaces are listed, with a
	// namespace column.
	namespace, pod string
	wide           bool
	now            func() time.Time
}

func (p eventPrinter) path(watch bool) string {
	query := url.Values{}
	if p.namespace != "" {
		query.Set("namespace", p.namespace)
	}
	if p.pod != "" {
		query.Set("name", p.pod)
	}
	if watch {
		query.Set("watch", "true")
	}
	if len(query) == 0 {
		return "/v1/events"
	}
	return "/v1/events?" + query.Encode()
}

func (p eventPrinter) list(ctx context.Context, c *client.Client) (listing, error) {
	var events []api.Event
	if err := c.Get(ctx, p.path(false), &events); err != nil {
		return listing{}, err
	}
	return p.listing(events), nil
}

// stream is getter.stream.
func (p eventPrinter) stream(ctx context.Context, c *client.Client, batch func(listing) error) error {
	var events []api.Event
	lines := lineReader{
		take: func(line client.Line) error {
			var e api.Event
			err := decodeLine(line, &e)
			events = append(events, e)
			return err
		},
		batch: func() error {
			l := p.listing(events)
			events = nil
			return batch(l)
		},
	}
	return lines.read(ctx, c, p.path(true))
}

func (p eventPrinter) listing(events []api.Event) listing {
	var l listing
	for i := range events {
		l.entries = append(l.entries, p.entry(&events[i]))
	}
	return l
}

func (p eventPrinter) columns() []string {
	columns := []string{"LAST SEEN", "TYPE", "REASON", "OBJECT"}
	if p.namespace == "" {
		columns = append([]string{"NAMESPACE"}, columns...)
	}
	if p.wide {
		columns = append(columns, "SOURCE", "FIRST SEEN", "COUNT", "NAME")
	}
	return append(columns, "MESSAGE")
}

func (p eventPrinter) entry(e *api.Event) entry {
	object := "pod/" + e.Name
	if e.UID == "" {
		object = "node/" + e.Name
	}
	cells := []string{p.ago(e.Last), e.Type, printable.Line(e.Reason), object}
	if p.namespace == "" {
		cells = append([]string{cli.OrNone(e.Namespace)}, cells...)
	}
	name := eventName(e)
	if p.wide {
		cells = append(cells, cli.OrNone(e.Source), p.ago(e.First), strconv.Itoa(e.Count), name)
	}
	return entry{key: name, name: name, object: eventObject(e), cells: append(cells, printable.Joined(e.Message))}
}

// ago returns how long ago at was.
func (p eventPrinter) ago(at time.Time) string {
	return cli.Age(p.now(), at)
}

// eventName returns a unique name for an event, in the form a kubelet uses.
func eventName(e *api.Event) string { return fmt.Sprintf("%s.%x", e.Name, e.First.UnixNano()) }

// eventObject returns an event as an object of the Kubernetes API.
func eventObject(e *api.Event) *v1.Event {
	about := v1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: e.Namespace, Name: e.Name, UID: e.UID, FieldPath: e.FieldPath}
	if e.UID == "" {
		about = v1.ObjectReference{Kind: "Node", APIVersion: "v1", Name: e.Name}
	}
	return &v1.Event{
		TypeMeta:       metav1.TypeMeta{Kind: "Event", APIVersion: "v1"},
		ObjectMeta:     metav1.ObjectMeta{Namespace: e.Namespace, Name: eventName(e), CreationTimestamp: metav1.NewTime(e.First)},
		InvolvedObject: about, Reason: e.Reason, Message: e.Message, Type: e.Type, Count: int32(e.Count),
		FirstTimestamp: metav1.NewTime(e.First), LastTimestamp: metav1.NewTime(e.Last),
		Source: v1.EventSource{Component: "wardlet"},
	}
}
