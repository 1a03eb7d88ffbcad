// Package systemd notifies systemd of the agent's state, as a service of Type=notify does.
//
// Comes in: the environment of the service; what the agent waits for, whether its sync loop
// progresses, a status line for people. Goes out: datagrams to the socket that the environment
// names.
//
// Watchdog.Run is the only goroutine; its caller owns it. A Notifier may be used from any
// goroutine.
package systemd
