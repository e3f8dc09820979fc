package rig

import (
	"fmt"
	"sync"
)

// keepStderr is how much of a process's stderr is kept, in bytes.
const keepStderr = 4 << 10

// Tail is a Writer that keeps the last of what a process says, for an error or
// a record. Any goroutine may use it.
type Tail struct {
	mu      sync.Mutex
	kept    []byte
	dropped int64
}

// Write keeps the end of b and never fails.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - keepStderr; over > 0 {
		t.dropped += int64(over)
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

// String returns what was kept, after a line saying how much was not.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dropped == 0 {
		return string(t.kept)
	}
	return fmt.Sprintf("[%d bytes dropped]\n%s", t.dropped, t.kept)
}
