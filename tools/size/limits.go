package main

import "time"

// The limits, in bytes.
const (
	// maxBinary is the limit for the stripped binary for linux/amd64.
	maxBinary = 42_000_000
	// maxIdle is the limit for the resident memory of an idle agent with one policy, a minute after
	// its start with a warm compile cache.
	maxIdle = 40_000_000
)

// idleTime is the time from the start of an agent to the measurement.
const idleTime = time.Minute

// forbidden are packages that must not be linked, together with the packages below them. The typed
// clientset costs 19 MB, and Kubernetes itself is not a library.
var forbidden = []string{"k8s.io/client-go/kubernetes", "k8s.io/kubernetes"}

// limited is the architecture whose binary has a limit. The others only have to build.
const limited = "amd64"

// architectures are the architectures of linux for which the agent is built.
var architectures = []string{limited, "arm64", "arm", "riscv64"}
