// Command controlplane shows that the static pods of a control plane, as kubeadm writes them, run unmodified.
//
// In come the wardlet program and the directory of the programs that tools/setup.sh builds. kubeadm writes certificates,
// kubeconfigs and manifests; images are made of the programs that the manifests name; an agent runs the manifests on a
// containerd of its own until the real kubectl gets its answers, and is killed twice meanwhile. Out comes a line for each
// step with the time it took, and status 1 with the end of the agent's log if one fails.
//
// The program runs itself again in a mount namespace and a network namespace of its own: /etc, /var/lib and the ports of the
// machine stay as they are, and nothing is left. The main goroutine owns the agent and the runtime.
package main
