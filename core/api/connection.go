package api

import (
	"fmt"
	"strings"

	"github.com/wardlet/wardlet/core/printable"
)

// Connect is the operation of a Question about a connection to a pod that runs. It is no
// change, and changes nothing.
const Connect Op = "CONNECT"

// The kinds of connections.
const (
	ConnectExec        = "exec"
	ConnectAttach      = "attach"
	ConnectPortForward = "portforward"
)

// Where requests for connections come from: the node's API, or the agent's local socket.
const (
	FromNodeAPI = "node-api"
	FromSocket  = "socket"
)

// LocalRoot is the user of a Connection from the local socket that root made.
const LocalRoot = "root"

// Connection is a connection to a pod that a user requests, as policies and records have it.
type Connection struct {
	// Kind is exec, attach or portforward.
	Kind string `json:"kind"`
	// Source is node-api or socket.
	Source string `json:"source"`
	// Container is empty for a portforward.
	Container string `json:"container,omitempty"`
	// Command is the program of an exec with its arguments.
	Command []string `json:"command,omitempty"`
	// Ports are those of a portforward, as far as they are known before it begins.
	Ports []int32 `json:"ports,omitempty"`
	// User is the user's name at the API server, on the socket "root" or "uid:" and a number.
	// Groups are those of the API server.
	User   string   `json:"user"`
	Groups []string `json:"groups,omitempty"`
}

// ByLocalRoot reports whether root requests the connection on the local socket. No policy that
// fails locks it out.
func (c *Connection) ByLocalRoot() bool { return c.Source == FromSocket && c.User == LocalRoot }

// String returns who requests what, in one line of printable text. Of a command it has the program
// alone: arguments are where people put secrets.
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

// maxConnectionText bounds what is shown of a connection, in bytes.
const maxConnectionText = 512
