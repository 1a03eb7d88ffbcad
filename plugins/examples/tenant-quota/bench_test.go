package main

import (
	"strconv"
	"testing"

	"github.com/wardlet/wardlet/plugins/sdk/sdktest"
)

// BenchmarkJudge judges a pod on a node with other pods.
func BenchmarkJudge(b *testing.B) {
	for name, cpu := range map[string]string{"allowed": "10m", "held": "5"} {
		b.Run(name, func(b *testing.B) {
			settings := map[string]any{"quota": map[string]any{"*": map[string]any{"cpu": "4", "memory": "8Gi", "pods": 200}}}
			var pods []sdktest.NodePod
			for i := range 30 {
				pods = append(pods, runs("shop", "uid-"+strconv.Itoa(i), "10m", "64Mi"))
			}
			sdktest.Load(b, settings, sdktest.NodeRead).BenchmarkAdmit(b, sdktest.Request{Pod: asking(cpu, "64Mi"), Facts: node(pods...)})
		})
	}
}
