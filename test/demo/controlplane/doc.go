// Command controlplane shows that the static pods of a control plane, as kubeadm writes them, run
// unmodified.
//
// Its inputs are the wardlet program and the directory of the programs that tools/setup.sh builds.
// kubeadm writes certificates, kubeconfigs and manifests. Images are made of the programs that the
// manifests name. An agent runs the manifests on a containerd of its own until the real kubectl
// gets its answers; the agent is killed twice on the way. The output is a line for each step with
// the time it took. If a step fails, the program prints the end of the agent's log and exits with
// 1.
//
// The program runs itself again in a mount namespace and a network namespace of its own, so /etc,
// /var/lib and the ports of the machine stay unchanged, and nothing is left. The main goroutine
// owns the agent and the runtime.
package main
