package server

import (
	"context"
	"encoding/json"
	"net/http"
)

// ServeReload adds this endpoint, which is asked with POST; it comes before
// Serve:
//
//	/v1/reload     what reload returns; refused with its error
//
// reload makes the agent read its configuration again and waits for the outcome. It may be called
// concurrently.
func (s *Server) ServeReload(reload func(context.Context) (any, error)) {
	s.mux.HandleFunc("POST /v1/reload", func(w http.ResponseWriter, r *http.Request) {
		outcome, err := reload(r.Context())
		if err != nil {
			refuse(w, http.StatusConflict, err.Error())
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(outcome) // a client that left needs no answer
	})
}
