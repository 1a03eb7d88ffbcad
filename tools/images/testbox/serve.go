package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// serve answers HTTP until it receives a signal. Its first line on standard output is its address.
func serve(args []string) error {
	flags := flag.NewFlagSet("testbox serve", flag.ContinueOnError)
	port := flags.Int("port", 8080, "port to listen on")
	message := flags.String("message", "hello from", "what / answers before the host name")
	ignoreTerm := flags.Bool("ignore-term", false, "go on after SIGTERM")
	if err := flags.Parse(args); err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	if *ignoreTerm {
		signal.Ignore(syscall.SIGTERM)
		signal.Notify(signals, syscall.SIGINT)
	} else {
		signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("", strconv.Itoa(*port)))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	fmt.Fprintln(os.Stdout, "listening on", listener.Addr())
	server := &http.Server{Handler: handler(*message), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case received := <-signals:
		fmt.Fprintln(os.Stdout, "received", received)
		closed := server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return closed
	}
}

func handler(message string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		host, err := os.Hostname()
		if err != nil {
			host = err.Error()
		}
		fmt.Fprintf(w, "%s %s\n", message, host)
	})
	mux.HandleFunc("GET /env", func(w http.ResponseWriter, _ *http.Request) {
		for _, variable := range slices.Sorted(slices.Values(os.Environ())) {
			fmt.Fprintln(w, variable)
		}
	})
	mux.HandleFunc("GET /fs", func(w http.ResponseWriter, r *http.Request) {
		data, err := os.ReadFile(r.URL.Query().Get("path"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		if _, err := w.Write(data); err != nil {
			fmt.Fprintln(os.Stdout, "answer /fs:", err)
		}
	})
	mux.HandleFunc("GET /exit", func(w http.ResponseWriter, r *http.Request) {
		code, err := strconv.Atoi(r.URL.Query().Get("code"))
		if err != nil {
			http.Error(w, "code is not a number", http.StatusBadRequest)
			return
		}
		fmt.Fprintln(os.Stdout, "exit", code)
		os.Exit(code)
	})
	return mux
}
