package http

import (
	"errors"
	"io"
	"net"
	"testing"
)

func TestConnectionsEndWithTheirClient(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	c := &connections{timeout: DefaultTimeout}
	dial := func() (net.Conn, error) { return c.dial(t.Context(), "tcp", l.Addr().String()) }
	for _, last := range []bool{false, true} {
		closed, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dial(); err != nil {
			t.Fatal(err)
		}
		closed.Close()
		same(t, "open connections", 1, len(c.open))
		c.closeAll(last)
		for range 2 {
			end, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := end.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("the other end got %v", err)
			}
			end.Close()
		}
	}
	if conn, err := dial(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("one more was made: %v, %v", conn, err)
	}
}
