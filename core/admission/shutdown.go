package admission

// ReasonNodeShutdown is the reason of a refusal because the machine shuts down.
const ReasonNodeShutdown = "NodeShutdown"

// NodeShutdown is the last handler of a chain. It refuses every pod while the function reports that
// the machine shuts down, with a kubelet's reason and message.
type NodeShutdown func() bool

// Admit implements Handler.
func (down NodeShutdown) Admit(*Attributes) Result {
	if down() {
		return Result{Reason: ReasonNodeShutdown, Message: "Pod was rejected as the node is shutting down."}
	}
	return Result{Admitted: true}
}
