// Package systemd tells systemd how the agent is, as a service of Type=notify does.
//
// Comes in: the environment of the service; what the agent waits for, whether its sync loop
// moves, a line for people. Goes out: datagrams to the socket that the environment names.
//
// Watchdog.Run is the one goroutine; its caller owns it. A Notifier may be used from any
// goroutine.
package systemd
