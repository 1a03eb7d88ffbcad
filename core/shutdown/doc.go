// Package shutdown terminates the pods of the node before the machine shuts down.
//
// Comes in: the signals of systemd-logind that a shutdown begins or was cancelled, over D-Bus; the
// pods of the node. Goes out: a delay lock of logind, which makes a shutdown wait; whether the
// machine shuts down (Manager.ShuttingDown), for admission and for the condition of the node;
// requests to terminate pods, those of the lowest priority first; when the last shutdown began and
// ended.
//
// Manager.Run is one goroutine, and one more while pods terminate. Their caller owns both: Run
// returns after the other has ended. A Bus owns the goroutines of its D-Bus connection, which end
// with Close.
package shutdown
