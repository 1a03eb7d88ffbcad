// Package alone tests a node whose network is away for minutes, and whose cluster is restored from a
// backup.
//
// Its input is build/wardlet on a real containerd and a control plane with all controllers; between
// the two is a network that loses every byte. The tests take their time, because the cluster does:
// a node is given up after 50 seconds, and its pods after 5 minutes more. make soak-cluster runs them.
package alone
