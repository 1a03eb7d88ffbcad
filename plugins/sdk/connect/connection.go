package connect

import "github.com/wardlet/wardlet/plugins/sdk"

// The kinds of connections.
const (
	Exec        = "exec"
	Attach      = "attach"
	PortForward = "portforward"
)

// Where requests come from: the API that the node serves to the cluster, or the
// agent's local socket.
const (
	NodeAPI = "node-api"
	Socket  = "socket"
)

// Each of the following functions declares a field of the connection. Call them to
// initialise package variables.

// Kind declares the kind: Exec, Attach or PortForward.
func Kind() *sdk.Field { return field("kind") }

// Source declares where the request comes from: NodeAPI or Socket.
func Source() *sdk.Field { return field("source") }

// Container declares the container's name. It is missing for PortForward.
func Container() *sdk.Field { return field("container") }

// Command declares the program of an Exec and its arguments, a list of strings.
func Command() *sdk.Field { return field("command") }

// Ports declares the ports of a PortForward, a list of integers. It has only the ports that
// are known before the connection begins.
func Ports() *sdk.Field { return field("ports") }

// User declares the name of the user. From the API server it is the name there. On the
// socket it is root, or "uid:" and a number.
func User() *sdk.Field { return field("user") }

// Groups declares the user's groups at the API server, a list of strings. It is
// missing on the socket.
func Groups() *sdk.Field { return field("groups") }

func field(name string) *sdk.Field { return sdk.Request("connection." + name) }
