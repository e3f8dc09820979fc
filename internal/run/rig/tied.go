package rig

import (
	"os/exec"
	"runtime"
	"syscall"
)

// StartTied starts a command that the kernel ends by a signal when this process is
// gone, in a process group of its own, and closes ended when it has ended and
// been waited for; its ProcessState says how.
func StartTied(c *exec.Cmd, death syscall.Signal) (ended <-chan struct{}, err error) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: death}
	c.WaitDelay = pipeLinger // a child of it must not hold its pipes open for ever
	started, over := make(chan error), make(chan struct{})
	go func() {
		// Pdeathsig fires when the thread that forked ends, and Go ends threads at
		// its own discretion: this one lives as long as the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.Start()
		started <- err
		if err == nil {
			_ = c.Wait() // ProcessState has its verdict
		}
		close(over)
	}()
	return over, <-started
}
