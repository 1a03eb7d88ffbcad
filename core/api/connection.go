package api

import (
	"fmt"
	"strings"

	"github.com/wardlet/wardlet/core/printable"
)

// Connect is the operation of a Question about a connection to a running pod. It changes nothing.
const Connect Op = "CONNECT"

// The kinds of connections.
const (
	ConnectExec        = "exec"
	ConnectAttach      = "attach"
	ConnectPortForward = "portforward"
)

// The origins of requests for connections: the node's API, or the agent's local socket.
const (
	FromNodeAPI = "node-api"
	FromSocket  = "socket"
)

// LocalRoot is the user of a Connection that root requests on the local socket.
const LocalRoot = "root"

// Connection is a connection to a pod that a user requests, in the form for policies and records.
type Connection struct {
	// Kind is exec, attach or portforward.
	Kind string `json:"kind"`
	// Source is node-api or socket.
	Source string `json:"source"`
	// Container is empty for a portforward.
	Container string `json:"container,omitempty"`
	// Command is the program of an exec with its arguments.
	Command []string `json:"command,omitempty"`
	// Ports are the ports of a portforward, if they are known before it starts.
	Ports []int32 `json:"ports,omitempty"`
	// User is the user's name at the API server; on the socket, it is "root", or "uid:" and a number.
	// Groups are the user's groups at the API server.
	User   string   `json:"user"`
	Groups []string `json:"groups,omitempty"`
}

// ByLocalRoot reports whether root requests the connection on the local socket. A failing policy
// must not lock this user out.
func (c *Connection) ByLocalRoot() bool { return c.Source == FromSocket && c.User == LocalRoot }

// String returns the user and the request in one line of printable text. It leaves out the
// arguments of a command, which often contain secrets.
func (c *Connection) String() string {
	text := c.Kind
	if c.Container != "" {
		text += " in container " + c.Container
	}
	if len(c.Ports) > 0 {
		text += " of ports " + strings.Trim(fmt.Sprint(c.Ports), "[]")
	}
	text += fmt.Sprintf(" by %s (%s)", c.User, c.Source)
	if len(c.Command) > 0 {
		text += ": " + c.Command[0]
	}
	return printable.Short(text, maxConnectionText)
}

// maxConnectionText limits the shown text of a connection, in bytes.
const maxConnectionText = 512
