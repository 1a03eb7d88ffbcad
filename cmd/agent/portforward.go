package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"

	"github.com/wardlet/wardlet/cmd/agent/cli"
	"github.com/wardlet/wardlet/core/pod"
	"github.com/wardlet/wardlet/core/server/client"
)

// maxForwarded is the maximum number of connections forwarded at a time. Further ones wait to be
// accepted.
const maxForwarded = 128

func (a *app) portForwardCommand() *cobra.Command {
	var o portForwardFlags
	cmd := &cobra.Command{
		Use:   "port-forward NAMESPACE/POD [LOCAL:]REMOTE...",
		Short: "Forward connections to ports of a pod",
		Long: "Listens on ports of this machine and forwards each connection to a port of a pod, until Ctrl-C.\n" +
			"REMOTE is a number or the name of a container's port. Without LOCAL both are the same; with an\n" +
			"empty one the system chooses. An error ends only its own connection, unless the pod is gone.",
		Example: "  wardlet port-forward default/web 8080:80\n  wardlet port-forward -n default web :http 5432 --address 127.0.0.1",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.portForward(cmd, args, &o) },
	}
	a.AddSocketFlag(cmd)
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "", "the pod's namespace, if it is not part of the name")
	cmd.Flags().StringSliceVar(&o.addresses, "address", []string{"localhost"}, "IP addresses to listen on, or localhost")
	return cmd
}

// portForwardFlags are the flags of port-forward.
type portForwardFlags struct {
	namespace string
	addresses []string
}

func (a *app) portForward(cmd *cobra.Command, args []string, o *portForwardFlags) error {
	wrong := func(err error) error { return cli.WrongUsage(cmd, err) }
	if len(args) < 2 {
		return wrong(fmt.Errorf("name a pod and a port, as in %s NAMESPACE/POD 8080:80", cmd.CommandPath()))
	}
	in, name, err := podArgument(o.namespace, args[:1])
	if err != nil {
		return wrong(err)
	}
	addresses, err := listenAddresses(o.addresses)
	if err != nil {
		return wrong(err)
	}
	c, err := a.Client(cmd)
	if err != nil {
		return err
	}
	var p v1.Pod
	if err := c.Get(cmd.Context(), "/v1/pods/"+url.PathEscape(in)+"/"+url.PathEscape(name), &p); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	f := &forwarder{
		app: a, client: c, path: "/v1/portforward/" + url.PathEscape(p.Namespace) + "/" + url.PathEscape(p.Name),
		places: make(chan struct{}, maxForwarded), end: cancel,
	}
	defer f.running.Wait()
	defer f.close()
	for _, arg := range args[1:] {
		ports, err := forwardedPorts(&p, arg)
		if err == nil {
			err = f.listen(ctx, addresses, ports)
		}
		if err != nil {
			cancel(nil)
			return err
		}
	}
	<-ctx.Done()
	if cmd.Context().Err() != nil {
		return nil // Ctrl-C ends the command without an error
	}
	return context.Cause(ctx)
}

// listenAddress is an address to listen on. Of several optional addresses, one is enough.
type listenAddress struct {
	ip       netip.Addr
	optional bool
}

// listenAddresses parses --address.
func listenAddresses(texts []string) (all []listenAddress, err error) {
	for _, text := range texts {
		if text == "localhost" {
			all = append(all, listenAddress{netip.AddrFrom4([4]byte{127, 0, 0, 1}), true}, listenAddress{netip.IPv6Loopback(), true})
			continue
		}
		ip, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("--address is %q; want an IP address or localhost", text)
		}
		all = append(all, listenAddress{ip: ip})
	}
	return all, nil
}

// forwardedPort is a local port, 0 for any, and the port of the pod that it forwards to.
type forwardedPort struct{ local, remote uint16 }

// forwardedPorts parses [LOCAL:]REMOTE.
func forwardedPorts(p *v1.Pod, text string) (ports forwardedPort, err error) {
	local, remote, both := strings.Cut(text, ":")
	if !both {
		remote = local
	}
	number, err := strconv.ParseUint(remote, 10, 16)
	if err != nil || number == 0 {
		number = uint64(namedPort(p, remote))
	}
	if number == 0 {
		return ports, fmt.Errorf("%q is neither a port from 1 to 65535 nor the name of one of pod %s/%s", remote, p.Namespace, p.Name)
	}
	ports = forwardedPort{uint16(number), uint16(number)}
	if !both {
		return ports, nil
	}
	number = 0
	if local != "" {
		if number, err = strconv.ParseUint(local, 10, 16); err != nil {
			return ports, fmt.Errorf("%q is no port of this machine; want a number from 1 to 65535, or nothing for any", local)
		}
	}
	ports.local = uint16(number)
	return ports, nil
}

// namedPort returns the port with a name, 0 if no container has one.
func namedPort(p *v1.Pod, name string) int32 {
	for c := range pod.Containers(p) {
		for i := range c.Ports {
			if name != "" && c.Ports[i].Name == name {
				return c.Ports[i].ContainerPort
			}
		}
	}
	return 0
}

// forwarder forwards connections to one pod.
type forwarder struct {
	app    *app
	client *client.Client
	path   string
	// places limits the number of connections at a time. end ends the command.
	places chan struct{}
	end    context.CancelCauseFunc

	listeners []net.Listener
	running   sync.WaitGroup
	// printing is locked while a line is written.
	printing sync.Mutex
}

func (f *forwarder) print(format string, values ...any) {
	f.printing.Lock()
	defer f.printing.Unlock()
	fmt.Fprintf(f.app.Out, format+"\n", values...)
}

// listen starts to forward a port at all addresses. If the local port is 0, the system chooses one
// port for all of them.
func (f *forwarder) listen(ctx context.Context, addresses []listenAddress, ports forwardedPort) error {
	listening := false
	var faults []error
	for _, at := range addresses {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", netip.AddrPortFrom(at.ip, ports.local).String())
		if err != nil {
			faults = append(faults, err)
			if !at.optional {
				return errors.Join(faults...)
			}
			continue
		}
		listening = true
		f.listeners = append(f.listeners, l)
		if tcp, ok := l.Addr().(*net.TCPAddr); ok {
			ports.local = uint16(tcp.Port)
		}
		f.print("Forwarding from %s -> %d", l.Addr(), ports.remote)
		f.running.Go(func() { f.accept(ctx, l, ports) })
	}
	if !listening {
		return errors.Join(faults...)
	}
	return nil
}

func (f *forwarder) close() {
	for _, l := range f.listeners {
		l.Close()
	}
}

func (f *forwarder) accept(ctx context.Context, l net.Listener, ports forwardedPort) {
	for {
		select {
		case f.places <- struct{}{}:
		case <-ctx.Done():
			return
		}
		conn, err := l.Accept()
		if err != nil {
			f.end(err) // if the listener was closed, the command is ending already
			return
		}
		f.print("Handling connection for %d", ports.local)
		f.running.Go(func() {
			defer func() { <-f.places }()
			f.forward(ctx, conn, ports)
		})
	}
}

func (f *forwarder) forward(ctx context.Context, conn net.Conn, ports forwardedPort) {
	err := f.client.PortForward(ctx, f.path, ports.remote, conn)
	if err == nil || ctx.Err() != nil {
		return
	}
	refused, ok := errors.AsType[*client.Refusal](err)
	if ok && (refused.Code == http.StatusNotFound || refused.Code == http.StatusBadRequest) {
		f.end(err)
		return
	}
	f.printing.Lock()
	defer f.printing.Unlock()
	cli.PrintError(f.app.ErrOut, fmt.Errorf("port %d -> %d: %w", ports.local, ports.remote, err))
}
