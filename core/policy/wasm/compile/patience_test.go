package compile

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestAChildThatIsBusyOrAsleepHasOneTerm(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	ended := make(chan struct{})
	// To begin to sleep it may have to wait for a processor itself.
	p := patience{process: cmd.Process.Pid, wall: time.Second, end: func() { close(ended) }}
	p.begin()
	<-ended
	p.over()
	if p.terms != 1 {
		t.Errorf("%d terms", p.terms)
	}
}

func TestAStarvedChildHasMoreTermsAndNotForEver(t *testing.T) {
	t.Parallel()
	ended := 0
	p := patience{process: os.Getpid(), wall: time.Hour, end: func() { ended++ }}
	p.begin()
	defer p.over()
	for term := range maxPatience {
		if ended > 0 {
			t.Fatalf("it is ended after %d terms, though it waits for the processor", term)
		}
		p.waited = -time.Hour // as if it had waited all the time
		p.due()
	}
	if ended != 1 {
		t.Errorf("it is ended %d times after %d terms", ended, maxPatience)
	}
	p.over()
	p.due()
	if ended != 1 {
		t.Error("it is ended once more, after it was over")
	}
}

func TestTheTimeThatAProcessWaitsIsKnown(t *testing.T) {
	t.Parallel()
	if waitedForProcessor(os.Getpid()) <= 0 {
		t.Error("this process never waited for a processor: schedstat cannot be read")
	}
	if got := waitedForProcessor(1 << 30); got != 0 {
		t.Errorf("a process that is not there waited %v", got)
	}
}
