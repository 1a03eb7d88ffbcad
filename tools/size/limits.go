package main

import "time"

// The limits, in bytes.
const (
	// maxBinary is for the stripped binary for linux/amd64.
	maxBinary = 42_000_000
	// maxIdle is for the resident memory of an idle agent with one policy, a minute after its start with a warm compile
	// cache.
	maxIdle = 40_000_000
)

// idleTime is how long after its start an agent is measured.
const idleTime = time.Minute

// forbidden are packages that must not be linked, nor any below them: the typed clientset costs 19 MB, and Kubernetes
// itself is no library.
var forbidden = []string{"k8s.io/client-go/kubernetes", "k8s.io/kubernetes"}

// limited is the architecture whose binary has a limit; for the others it must build.
const limited = "amd64"

// architectures are those of linux that are built.
var architectures = []string{limited, "arm64", "arm", "riscv64"}
