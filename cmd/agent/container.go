package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/config"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/printable"
	"github.com/wardlet/wardlet/core/server/client"
)

// containerFlags name a container on the command line.
type containerFlags struct{ namespace, container string }

// add adds the flags to a command. There -c selects the container, as with kubectl, and not the
// configuration, as with other commands.
func (o *containerFlags) add(a *app, cmd *cobra.Command) {
	a.AddSocketFlag(cmd)
	cmd.Flags().StringVar(&a.ConfigPath, "config", config.DefaultPath, "the agent's configuration")
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "", "the pod's namespace, if it is not part of the name")
	cmd.Flags().StringVarP(&o.container, "container", "c", "", "the container (default: the one that the pod's annotation\n"+defaultContainer+" names, else the first one)")
}

// defaultContainer is the annotation that names the container of a pod to use if the command line
// names none.
const defaultContainer = "kubectl.kubernetes.io/default-container"

// container is a container of a pod that the agent serves.
type container struct {
	namespace, pod, name string
	// tty reports whether the main program of the container runs on a terminal.
	tty bool
}

// find reads the pod and chooses the container.
func (o *containerFlags) find(ctx context.Context, a *app, c *client.Client, namespace, name string) (*container, error) {
	p, err := findPod(ctx, c, namespace, name)
	if err != nil {
		return nil, err
	}
	return o.choose(a, p), nil
}

// findPod reads a pod.
func findPod(ctx context.Context, c *client.Client, namespace, name string) (*v1.Pod, error) {
	p := &v1.Pod{}
	return p, c.Get(ctx, "/v1/pods/"+url.PathEscape(namespace)+"/"+url.PathEscape(name), p)
}

// choose chooses the container of a pod.
func (o *containerFlags) choose(a *app, p *v1.Pod) *container {
	if o.container != "" {
		return containerOf(p, o.container)
	}
	return containerOf(p, a.chooseContainer(p))
}

// containerOf returns the container with a name, even if the pod has no such container.
func containerOf(p *v1.Pod, name string) *container {
	of := &container{namespace: p.Namespace, pod: p.Name, name: name}
	if spec, _ := pod.Container(p, name); spec != nil {
		of.tty = spec.TTY
	}
	return of
}

// chooseContainer returns the container to use if the command line names none, as kubectl does.
func (a *app) chooseContainer(p *v1.Pod) string {
	var names, shown []string
	add := func(name, kind string) { names, shown = append(names, name), append(shown, name+kind) }
	for i := range p.Spec.Containers { // kubectl names them first
		add(p.Spec.Containers[i].Name, "")
	}
	for c, kind := range pod.Containers(p) {
		switch kind {
		case pod.InitContainer, pod.Sidecar:
			add(c.Name, " (init)")
		case pod.EphemeralContainer:
			add(c.Name, " (ephem)")
		}
	}
	if name := p.Annotations[defaultContainer]; name != "" {
		if slices.Contains(names, name) {
			return name
		}
		fmt.Fprintf(a.ErrOut, "Default container name %q not found in pod %s\n", name, p.Name)
	}
	if len(names) > 1 {
		fmt.Fprintf(a.ErrOut, "Defaulted container %q out of: %s\n", names[0], strings.Join(shown, ", "))
	}
	return names[0]
}

// path returns the URL path at which the agent serves an endpoint of the container.
func (c *container) path(of string, query url.Values) string {
	return "/v1/" + of + "/" + url.PathEscape(c.namespace) + "/" + url.PathEscape(c.pod) + "/" + url.PathEscape(c.name) + "?" + query.Encode()
}

// explained adds a hint at "wardlet explain pod" to a refusal that is due to the state of the pod.
func (c *container) explained(err error) error {
	if refused, ok := errors.AsType[*client.Refusal](err); ok && refused.Code == http.StatusBadRequest {
		return fmt.Errorf("%w; \"wardlet explain pod %s/%s\" tells more", err, c.namespace, c.pod)
	}
	return err
}

// containerOut returns the writer for the output of a container. On a terminal, it filters control
// characters out; otherwise the output is unchanged. The caller must call flush at the end.
func containerOut(to io.Writer) (w io.Writer, flush func()) {
	if !onTTY(to) {
		return to, func() {}
	}
	whole := &wholeCharacters{to: printable.Writer{W: to}}
	return whole, whole.flush
}

// onTTY reports whether a stream of this process is a terminal.
func onTTY(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && cli.IsTerminal(file)
}

// wholeCharacters never splits a character between two writes to to.
type wholeCharacters struct {
	to   io.Writer
	rest []byte
}

// Write implements io.Writer.
func (w *wholeCharacters) Write(p []byte) (int, error) {
	text := slices.Concat(w.rest, p)
	end := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if last := text[len(text)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				end -= i
			}
			break
		}
	}
	w.rest = slices.Clone(text[end:])
	if end == 0 {
		return len(p), nil
	}
	if _, err := w.to.Write(text[:end]); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *wholeCharacters) flush() {
	if len(w.rest) > 0 {
		_, _ = w.to.Write(w.rest) // a failed write cannot be reported
	}
	w.rest = nil
}
