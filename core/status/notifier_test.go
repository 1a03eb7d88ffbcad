package status

import (
	"sync"
	"testing"
)

// told reports whether a listener has been told of something.
func told(changed <-chan struct{}) bool {
	select {
	case <-changed:
		return true
	default:
		return false
	}
}

func TestNotifierTellsEveryListenerOnceHoweverMuchHasChanged(t *testing.T) {
	t.Parallel()
	var n Notifier
	n.Notify() // nobody listens
	a, stopA := n.Listen()
	b, stopB := n.Listen()
	if told(a) || told(b) {
		t.Error("a listener was told of what changed before")
	}
	for range 3 {
		n.Notify()
	}
	if !told(a) || told(a) || !told(b) {
		t.Error("want one value for each listener")
	}
	stopA()
	stopA()
	n.Notify()
	if told(a) || !told(b) {
		t.Error("a listener that stopped was told, or one that did not was not")
	}
	stopB()
	if n.count.Load() != 0 || len(n.listeners) != 0 {
		t.Error("a listener is left")
	}
}

func TestNotifierLosesNothingThatChangesAfterListen(t *testing.T) {
	t.Parallel()
	var n Notifier
	var running sync.WaitGroup
	defer running.Wait()
	for range 4 {
		running.Go(func() {
			for range 200 {
				changed, stop := n.Listen()
				n.Notify()
				<-changed
				stop()
			}
		})
	}
}
