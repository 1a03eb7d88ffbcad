// Command metricsserver is the released metrics-server, built with the modules of Kubernetes that the
// tests' other programs are built with.
package main

import (
	"log"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"sigs.k8s.io/metrics-server/cmd/metrics-server/app"
)

func main() {
	if err := app.NewMetricsServerCommand(genericapiserver.SetupSignalHandler()).Execute(); err != nil {
		log.Fatal(err)
	}
}
