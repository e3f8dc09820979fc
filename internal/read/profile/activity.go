package profile

import (
	"slices"
	"strings"
)

// Activity is what a sample of a CPU profile was doing. Each sample is exactly
// one activity's.
type Activity struct {
	Name   string
	Spoken string // in a sentence; "" where that is the name
	Doc    string
	Colour string // its own, in every figure and table: rrggbb

	// Patterns of functions' names, as matches reads them. A function of calls,
	// anywhere in a sample's stack, makes the sample the activity's; one of owns only
	// when no function nearer to what was executing is owned by another. In kernel are
	// owners too, of which only the kernel's frames are asked.
	calls, owns, kernel []string
}

// classes are in the order of precedence. What runs inside another activity
// is that activity's by rank: what a collection is made to do inside an encoding
// belongs to the collector, but what the encoding allocates to the encoding; what the
// kernel does for the scheduler belongs to the kernel where its frames were seen, else
// to the scheduler. Names of functions are in names.go.
// Colours: red for the collector, blue for content, purple for the
// kernel, orange for memory, pink for the cipher, green for programs, grey for the rest;
// those of one hue differ in lightness.
var classes = []Activity{
	{Name: "garbage collection", Spoken: "collecting garbage", Colour: "a8400a", Doc: "marking and sweeping, assists by the allocating goroutines included", calls: goCollector},
	{Name: "encode", Spoken: "encoding", Colour: "1f5f8f", Doc: "messages into bytes, allocation and copying for it included", calls: slices.Concat(goEncode, nativeEncode)},
	{Name: "decode", Spoken: "decoding", Colour: "86b9dc", Doc: "bytes into messages, allocation and copying for it included", calls: slices.Concat(goDecode, nativeDecode)},
	{Name: "kernel: copying", Spoken: "the kernel's copying", Colour: "8b3f9e", Doc: "the kernel copies bytes from and to programs", kernel: kernelCopying},
	{Name: "kernel: polling, wakeups", Spoken: "the kernel's wake-ups and polling", Colour: "b695d3", Doc: "epoll, poll, futex and io_uring's own work; threads put to sleep, chosen and woken", kernel: kernelPolling},
	{Name: "kernel: TCP/IP", Spoken: "the kernel's TCP/IP", Colour: "4a3590", Doc: "sockets, TCP, IP, packets and their buffers, queues and devices, loopback included", kernel: kernelNetwork},
	{Name: "kernel: memory", Spoken: "the kernel's memory management", Colour: "d9b8e6", Doc: "page faults, and memory mapped, returned and cleared", kernel: kernelMemory},
	{Name: otherKernel, Spoken: "the kernel's other work", Colour: "75709c", Doc: "the way into and out of the kernel, interrupts, timers, files and what has no other name"},
	{Name: "scheduler", Spoken: "waking and scheduling goroutines", Colour: "5f656e", Doc: "Go's scheduler and network poller: choosing, parking and waking goroutines and threads, idling; its system calls where no kernel frames were seen", calls: goScheduler},
	{Name: "system calls", Colour: "7a4b66", Doc: "the program's side of system calls; the kernel's too, undivided, where its frames or their names were not seen", calls: slices.Concat(goSystemCalls, nativeSystemCalls), kernel: kernelHidden},
	{Name: "allocation", Spoken: "allocating memory", Colour: "e8954a", Doc: "memory taken from the heap and given back, and stacks grown, outside encoding and decoding", calls: slices.Concat(goAllocation, nativeAllocation)},
	{Name: "copying", Spoken: "copying by the program", Colour: "f4d3a0", Doc: "memory copied or cleared by the program, outside allocation, encoding and decoding", calls: slices.Concat(goCopying, nativeCopying)},
	{Name: "tls", Spoken: "encryption", Colour: "d26a92", Doc: "encryption: Go's crypto/…, OpenSSL, BoringSSL, outside what ranks above", owns: slices.Concat(goTLS, nativeTLS)},
	{Name: "netdyno", Spoken: "netdyno's own code", Colour: "95c796", Doc: "this program's load generator, transports and worker, and what they call in a language's own library", owns: slices.Concat(goNetdyno, nativeNetdyno)},
	{Name: "library", Spoken: "the library's own code", Colour: "2b7656", Doc: "the library that carries the exchanges: Go's net and net/http, asio, libevent, gRPC, and every module that is not netdyno's", owns: slices.Concat(goLibrary, nativeLibrary)},
	{Name: unnamed, Colour: "a9a08c", Doc: "code of which no function has a name, as of stripped programs", calls: []string{"["}},
	{Name: "rest", Spoken: "other code", Colour: "c9cbc6", Doc: "everything else"},
}

const (
	otherKernel = "kernel: other"
	unnamed     = "unnamed code"
)

// theKernel stands in a stack for all of its kernel frames, where they are not looked at.
const theKernel = "[kernel]"

// Activities returns the classes of CPU time of a profile, by precedence. The
// caller owns the slice.
func Activities() []Activity { return slices.Clone(classes) }

var placeOfOtherKernel = slices.IndexFunc(classes, func(a Activity) bool { return a.Name == otherKernel })

// trace is a sample's stack by its functions, the executing one first. Those of the
// kernel come before the program's.
type trace struct {
	functions []string
	kernel    int // of them
}

// folded is the stack with one frame for the whole kernel, as a profiler sees it that
// does not see into the kernel.
func (t trace) folded() trace {
	if t.kernel == 0 {
		return t
	}
	return trace{append([]string{theKernel}, t.functions[t.kernel:]...), 1}
}

// classifier remembers what functions' names say, because a profile's samples
// share them.
type classifier struct {
	known map[symbol]standing
}

// symbol is a function of the kernel or of a program: names may be the same.
type symbol struct {
	name   string
	kernel bool
}

// standing is a function's rank in activities by either rule; len(activities)
// for none.
type standing struct{ calls, owns int }

// rank returns the index in activities of a sample's: the first of what its calls and
// its owner say. So what the kernel does for an encoding is the encoding's.
func (c *classifier) rank(t trace) int {
	calls, owner := len(classes), len(classes)
	for i, name := range t.functions {
		s := c.standing(symbol{name, i < t.kernel})
		calls = min(calls, s.calls)
		if owner == len(classes) {
			owner = s.owns
		}
		if i == t.kernel-1 && owner == len(classes) {
			owner = placeOfOtherKernel
		}
	}
	return min(calls, owner, len(classes)-1)
}

func (c *classifier) standing(of symbol) standing {
	s, known := c.known[of]
	if known {
		return s
	}
	s = standing{len(classes), len(classes)}
	for i, a := range classes {
		owns := a.owns
		if of.kernel {
			owns = a.kernel
		}
		if s.calls > i && !of.kernel && matches(of.name, a.calls) {
			s.calls = i
		}
		if s.owns > i && matches(of.name, owns) {
			s.owns = i
		}
	}
	c.known[of] = s
	return s
}

// anyModule stands for every import path whose first element is a domain, as
// those of modules are and those of Go's own library are not.
const anyModule = "*.*/"

// matches tells whether a function's name fits a pattern: "name" begins it, "name$" is
// all of it, "*name" is anywhere in it.
func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if pattern == anyModule {
			first, _, path := strings.Cut(name, "/")
			return path && strings.Contains(first, ".") && !strings.ContainsAny(first, "([<")
		}
		if whole, exact := strings.CutSuffix(pattern, "$"); exact {
			return name == whole
		}
		if part, anywhere := strings.CutPrefix(pattern, "*"); anywhere {
			return strings.Contains(name, part)
		}
		return strings.HasPrefix(name, pattern)
	})
}
