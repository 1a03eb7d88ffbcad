package parity

import (
	_ "k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/core/validation"
	_ "k8s.io/kubernetes/pkg/kubelet/config"
	_ "k8s.io/kubernetes/pkg/kubelet/types"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/wardlet/wardlet/core/mux"
)
