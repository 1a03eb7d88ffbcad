package nodeapi

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/wardlet/wardlet/core/pod"
)

// checkpointSubresource is the right to write the memory of containers to disk.
const checkpointSubresource = "checkpoint"

// checkpoint writes a checkpoint of a container into the directory of checkpoints, and returns its
// path, as a kubelet does.
func (s *Server) checkpoint(w http.ResponseWriter, req *http.Request) {
	p := s.streams.pod(req)
	if p == nil {
		http.Error(w, fmt.Sprintf("pod %q does not exist", req.PathValue("pod")), http.StatusNotFound)
		return
	}
	name := req.PathValue("container")
	if !hasContainer(p, name) {
		http.Error(w, fmt.Sprintf("container %q not found in pod %q", name, p.Name), http.StatusNotFound)
		return
	}
	seconds, err := strconv.ParseInt(req.URL.Query().Get("timeout"), 10, 64)
	if err != nil && req.URL.Query().Has("timeout") || seconds < 0 {
		http.Error(w, fmt.Sprintf("timeout: want seconds, found %q", req.URL.Query().Get("timeout")), http.StatusNotFound)
		return
	}
	st := pod.ContainerStatus(&p.Status, name)
	if st == nil || st.State.Running == nil {
		http.Error(w, fmt.Sprintf("container %q of pod %q does not run", name, p.Name), http.StatusNotFound)
		return
	}
	if err := os.MkdirAll(s.cfg.CheckpointDir, 0o700); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	path := filepath.Join(s.cfg.CheckpointDir, fmt.Sprintf("checkpoint-%s_%s-%s-%s.tar", p.Name, p.Namespace, name, s.cfg.Now().UTC().Format(time.RFC3339)))
	if err := s.cfg.Checkpoint(req.Context(), bareID(st.ContainerID), path, time.Duration(seconds)*time.Second); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answerJSON(w, map[string]any{"items": []string{path}})
}
