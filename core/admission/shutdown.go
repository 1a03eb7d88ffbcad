package admission

// NodeShutdown is the last handler of a chain. It refuses every pod while the function reports that
// the machine shuts down, with a kubelet's reason and message.
type NodeShutdown func() bool

// Admit implements Handler.
func (down NodeShutdown) Admit(*Attributes) Result {
	if down() {
		return Result{Reason: "NodeShutdown", Message: "Pod was rejected as the node is shutting down."}
	}
	return Result{Admitted: true}
}
