package relay

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// within does something on a thread that is in the namespace, where sockets are
// born. The goroutine is a fresh one: should its thread not find back home, it
// ends with the goroutine, and nobody else ever runs in the wrong namespace.
func within(namespace int, do func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		home, err := visit(namespace, do)
		if home {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}

// visit also says whether the thread is back where it came from.
func visit(namespace int, do func() error) (home bool, err error) {
	own, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return true, fmt.Errorf("open our own namespace: %w", err)
	}
	defer func() { err = errors.Join(err, unix.Close(own)) }()
	if err := unix.Setns(namespace, unix.CLONE_NEWNET); err != nil {
		return true, fmt.Errorf("enter %s: %w", nameOf(namespace), err)
	}
	err = do()
	if back := unix.Setns(own, unix.CLONE_NEWNET); back != nil {
		return false, errors.Join(err, fmt.Errorf("return to our own namespace: %w", back))
	}
	return true, err
}

// nameOf returns what a namespace's descriptor is open for: a path, or an inode
// as in net:[4026532008].
func nameOf(namespace int) string {
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", namespace))
	if err != nil {
		return fmt.Sprintf("namespace descriptor %d", namespace)
	}
	return name
}
