// Package network is the network between a node and its API server, with its faults: lost bytes,
// closed connections and refused ones.
//
// Its input are the connections of the node, its output connections to the server. A goroutine of
// its own accepts, and two carry the bytes of each connection; Close waits for all.
package network
