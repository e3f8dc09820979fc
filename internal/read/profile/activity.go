package profile

import "strings"

// Activity is what a sample of a CPU profile was doing. Each sample is exactly
// one activity's.
type Activity struct {
	Name string
	Doc  string

	// Beginnings of functions' names. A function of calls, anywhere in a
	// sample's stack, makes the sample the activity's; one of owns only when no
	// function below it (nearer to what was executing) is owned by another.
	calls, owns []string
}

// classes are in the order of precedence. What runs inside another activity
// is that activity's by rank: what a collection is made to do inside an encoding
// belongs to the collector, but what the encoding allocates to the encoding; a
// system call that waits for a futex belongs to the scheduler, one that sends
// to the system calls, though a library issued it.
var classes = []Activity{
	{Name: "garbage collection", Doc: "marking and sweeping, assists by the allocating goroutines included", calls: []string{
		"runtime.gcBgMarkWorker", "runtime.gcAssist", "runtime.gcStart", "runtime.gcMark", "runtime.gcDrain", "runtime.gcSweep",
		"runtime.bgsweep", "runtime.bgscavenge", "runtime.sweepone", "runtime.(*sweepLocked).", "runtime.deductSweepCredit",
		"runtime.wbBufFlush", "runtime.scanobject", "runtime.markroot",
	}},
	{Name: "encode", Doc: "messages into bytes, allocation and copying for it included", calls: []string{"netdyno/internal/work/codec.Encode"}},
	{Name: "decode", Doc: "bytes into messages, allocation and copying for it included", calls: []string{"netdyno/internal/work/codec.Decode"}},
	{Name: "scheduler", Doc: "Go's scheduler and network poller: choosing, parking and waking goroutines and threads, idling", calls: []string{
		"runtime.mcall", "runtime.schedule", "runtime.findRunnable", "runtime.findrunnable", "runtime.park_m", "runtime.goexit0", "runtime.gosched", "runtime.gopreempt",
		"runtime.goready", "runtime.ready", "runtime.wakep", "runtime.startm", "runtime.stopm", "runtime.mstart", "runtime.sysmon", "runtime.netpoll",
		"runtime.futex", "runtime.note", "runtime.sema",
	}},
	{Name: "system calls", Doc: "the kernel's side of sending, receiving and polling, and the way into and out of it", calls: []string{
		"syscall.Syscall", "syscall.RawSyscall", "syscall.rawSyscall", "syscall.runtime_", "internal/runtime/syscall", "runtime/internal/syscall",
		"entry_SYSCALL_64", "do_syscall_64", "golang.org/x/sys/unix.Syscall", "golang.org/x/sys/unix.RawSyscall", "runtime.entersyscall", "runtime.reentersyscall", "runtime.exitsyscall",
	}},
	{Name: "allocation", Doc: "memory taken from the heap, and stacks grown, outside encoding and decoding", calls: []string{
		"runtime.mallocgc", "runtime.newobject", "runtime.(*mcache).", "runtime.(*mcentral).", "runtime.(*mheap).alloc", "runtime.newstack", "runtime.copystack",
	}},
	{Name: "copying", Doc: "memory copied or cleared, outside allocation, encoding and decoding", calls: []string{
		"runtime.memmove", "runtime.typedmemmove", "runtime.typedslicecopy", "runtime.memclr",
	}},
	{Name: "tls", Doc: "encryption: crypto/… outside what ranks above", owns: []string{"crypto/", "golang.org/x/crypto/", "vendor/golang.org/x/crypto/"}},
	{Name: "netdyno", Doc: "this program's load generator, transports and worker, and what they call in Go's library", owns: []string{
		"netdyno/", "netdyno::", "main.", "github.com/HdrHistogram/",
	}},
	{Name: "library", Doc: "the library that carries the exchanges: Go's net and net/http, and every module that is not netdyno's", owns: []string{
		"net.", "net/", "internal/poll.", "vendor/golang.org/x/net/", anyModule,
	}},
	{Name: "rest", Doc: "everything else"},
}

// anyModule stands for every import path whose first element is a domain, as
// those of modules are and those of Go's own library are not.
const anyModule = "*.*/"

// Activities returns the classes of CPU time of a profile, by precedence. The
// caller owns the slice.
func Activities() []Activity { return append([]Activity(nil), classes...) }

// classifier remembers what functions' names say, because a profile's samples
// share them.
type classifier struct {
	known map[string]standing
}

// standing is a function's rank in activities by either rule; len(activities)
// for none.
type standing struct{ calls, owns int }

// rank returns the index in activities of a sample's, from the functions of its
// stack, the executing one first.
func (c *classifier) rank(stack []string) int {
	calls, owner := len(classes), len(classes)
	for _, name := range stack {
		s := c.standing(name)
		calls = min(calls, s.calls)
		if owner == len(classes) {
			owner = s.owns
		}
	}
	return min(calls, owner, len(classes)-1) // a call's rank is always above an owner's
}

func (c *classifier) standing(name string) standing {
	s, known := c.known[name]
	if known {
		return s
	}
	s = standing{len(classes), len(classes)}
	for i, a := range classes {
		if s.calls > i && begins(name, a.calls) {
			s.calls = i
		}
		if s.owns > i && begins(name, a.owns) {
			s.owns = i
		}
	}
	c.known[name] = s
	return s
}

func begins(name string, with []string) bool {
	for _, prefix := range with {
		if prefix == anyModule {
			first, _, path := strings.Cut(name, "/")
			if path && strings.Contains(first, ".") && !strings.ContainsAny(first, "([") {
				return true
			}
			continue
		}
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
