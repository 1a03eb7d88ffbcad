package controlplane

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/wardlet/wardlet/test/cluster/pki"
)

const (
	host = "127.0.0.1"
	// readyTime is how long a server may take to become ready, on a busy machine.
	readyTime = 60 * time.Second
)

// Cluster is an API server with its etcd. Its methods must be called from one goroutine.
type Cluster struct {
	// Programs is the directory of kube-apiserver and etcd.
	Programs string
	// Dir holds all files; Stop removes it.
	Dir string
	// Serving signs the server's certificate, and Clients signs the client certificates that the
	// server accepts. After a change of these, or of Tokens, the API server must be restarted.
	Serving, Clients *pki.Authority
	// Tokens are the bearer tokens that the server accepts.
	Tokens map[string]User
	// Flags are added to the API server's flags.
	Flags []string

	lock              *os.File
	etcdPort, apiPort int
	etcd, apiserver   *process
	admin             *Client
}

// User is the user that a token stands for.
type User struct {
	Name   string
	Groups []string
}

// Start starts both programs and waits until the server is ready. Flags are added to the API
// server's flags.
func Start(ctx context.Context, programs string, tokens map[string]User, flags ...string) (*Cluster, error) {
	p := &Cluster{Programs: programs, Tokens: tokens, Flags: flags}
	err := p.prepare()
	if err == nil {
		err = p.StartEtcd(ctx)
	}
	if err == nil {
		err = p.StartServer(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// prepare makes the directory, the keys and the ports.
func (p *Cluster) prepare() (err error) {
	if p.Dir, p.lock, err = newDir(); err != nil {
		return err
	}
	if p.Serving, err = pki.New("serving"); err != nil {
		return err
	}
	if p.Clients, err = pki.New("clients"); err != nil {
		return err
	}
	keys, err := pki.Keys()
	if err != nil {
		return err
	}
	if err := errors.Join(p.write("sa.pub", keys.Cert), p.write("sa.key", keys.Key)); err != nil {
		return err
	}
	if p.etcdPort, err = freePort(); err != nil {
		return err
	}
	p.apiPort, err = freePort()
	return err
}

func (p *Cluster) write(name string, text []byte) error {
	return os.WriteFile(p.path(name), text, 0o600)
}

func (p *Cluster) path(name string) string { return filepath.Join(p.Dir, name) }

// Address returns the address on which the API server listens.
func (p *Cluster) Address() string { return net.JoinHostPort(host, strconv.Itoa(p.apiPort)) }

func (p *Cluster) etcdURL() string {
	return "http://" + net.JoinHostPort(host, strconv.Itoa(p.etcdPort))
}

// StartEtcd starts etcd with the data in its directory.
func (p *Cluster) StartEtcd(ctx context.Context) (err error) {
	peer := "http://" + host + ":0"
	p.etcd, err = start(p.Dir, filepath.Join(p.Programs, "etcd"),
		"--data-dir="+p.path("etcd"), "--name=one", "--unsafe-no-fsync", "--log-level=error",
		"--listen-client-urls="+p.etcdURL(), "--advertise-client-urls="+p.etcdURL(),
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=one="+peer,
	)
	if err != nil {
		return err
	}
	return p.etcd.await(ctx, func() error {
		_, err := p.revision(ctx)
		return err
	})
}

// StopEtcd stops etcd; with wipe it also deletes all data.
func (p *Cluster) StopEtcd(wipe bool) error {
	p.etcd.stop(true)
	if !wipe {
		return nil
	}
	return os.RemoveAll(p.path("etcd"))
}

// StartServer starts the API server with the present keys and tokens and waits until it is ready.
func (p *Cluster) StartServer(ctx context.Context) error {
	if err := p.writeKeys(); err != nil {
		return err
	}
	var err error
	p.apiserver, err = start(p.Dir, filepath.Join(p.Programs, "kube-apiserver"), append([]string{
		"--etcd-servers=" + p.etcdURL(),
		"--bind-address=" + host, "--secure-port=" + strconv.Itoa(p.apiPort), "--cert-dir=" + p.path("certificates"),
		"--tls-cert-file=" + p.path("server.crt"), "--tls-private-key-file=" + p.path("server.key"),
		"--client-ca-file=" + p.path("clients.crt"), "--token-auth-file=" + p.path("tokens"),
		"--service-account-issuer=https://wardlet.test", "--service-account-key-file=" + p.path("sa.pub"),
		"--service-account-signing-key-file=" + p.path("sa.key"),
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
		"--service-cluster-ip-range=192.0.2.0/24", "--endpoint-reconciler-type=none",
		"--enable-priority-and-fairness=false", "--shutdown-send-retry-after=false",
	}, p.Flags...)...)
	if err != nil {
		return err
	}
	if p.admin != nil {
		p.admin.Close()
	}
	if p.admin, err = p.Client("admin", "system:masters"); err != nil {
		return err
	}
	return p.apiserver.await(ctx, func() error { return p.admin.ready(ctx) })
}

// StopServer stops the API server; with kill it does so without a graceful shutdown.
func (p *Cluster) StopServer(kill bool) { p.apiserver.stop(kill) }

// writeKeys writes the files that the API server reads when it starts.
func (p *Cluster) writeKeys() error {
	server, err := p.Serving.Server(host)
	if err != nil {
		return err
	}
	var tokens []byte
	for token, user := range p.Tokens {
		tokens = append(tokens, tokenLine(token, user)...)
	}
	return errors.Join(p.write("server.crt", server.Cert), p.write("server.key", server.Key),
		p.write("clients.crt", p.Clients.PEM), p.write("tokens", tokens))
}

// Admin returns a client with all permissions.
func (p *Cluster) Admin() *Client { return p.admin }

// Stop stops both programs and removes all files.
func (p *Cluster) Stop() error {
	if p.admin != nil {
		p.admin.Close()
	}
	for _, program := range []*process{p.apiserver, p.etcd} {
		if program != nil {
			program.stop(true)
		}
	}
	var err error
	if p.Dir != "" {
		err = os.RemoveAll(p.Dir)
	}
	if p.lock != nil {
		p.lock.Close()
	}
	return err
}

// freePort returns a loopback port on which no process listens. It is below the range from which
// Linux takes the ports of outgoing connections: a server must be able to listen on it again after
// a restart.
func freePort() (int, error) {
	const lowest, end = 20000, 32768
	var err error
	for range 100 {
		port := lowest + rand.IntN(end-lowest)
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port))); err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("find a free port: %w", err)
}
