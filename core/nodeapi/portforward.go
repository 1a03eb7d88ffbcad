package nodeapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// maxPorts limits the ports in one request. Clients that use SPDY name none there: each connection
// names its own.
const maxPorts = 64

// PortForward connects a client to ports of a pod, in the same way as Exec. The runtime connects to
// the port for each connection.
func (s *Streams) PortForward(w http.ResponseWriter, req *http.Request) {
	p := s.pod(req)
	if p == nil {
		http.Error(w, fmt.Sprintf("pod %q does not exist", req.PathValue("pod")), http.StatusNotFound)
		return
	}
	if p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed {
		http.Error(w, fmt.Sprintf("pod %q has ended", p.Name), http.StatusBadRequest)
		return
	}
	ports, err := portsOf(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !s.mayConnect(w, req, p, &Connection{Kind: kindPortForward, Ports: ports}) {
		return
	}
	s.stream(w, req, func() (*url.URL, error) { return s.Containers.PortForwardURL(req.Context(), p, ports) })
}

// portsOf parses the ports that a WebSocket client names.
func portsOf(req *http.Request) (ports []int32, err error) {
	if !strings.EqualFold(req.Header.Get("Upgrade"), "websocket") {
		return nil, nil
	}
	for _, text := range req.URL.Query()["port"] {
		for one := range strings.SplitSeq(text, ",") {
			n, err := strconv.ParseUint(one, 10, 16)
			if err != nil || n == 0 {
				return nil, fmt.Errorf("port: want a number between 1 and 65535, found %q", one)
			}
			ports = append(ports, int32(n))
			if len(ports) > maxPorts {
				return nil, fmt.Errorf("port: want at most %d ports", maxPorts)
			}
		}
	}
	if len(ports) == 0 {
		return nil, errors.New("port: missing; want a number between 1 and 65535")
	}
	return ports, nil
}
