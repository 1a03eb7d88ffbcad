package apiserver

import (
	_ "k8s.io/client-go/rest"
	_ "k8s.io/client-go/tools/cache"
	_ "k8s.io/client-go/transport"
	_ "k8s.io/client-go/util/cert"
)
