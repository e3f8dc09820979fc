package profile

import (
	"strings"
	"testing"
)

// Stacks as Go 1.26 writes them, the executing function first.
func TestEachStackHasItsActivity(t *testing.T) {
	for stack, want := range map[string]string{
		"runtime.scanobject < runtime.gcDrain < runtime.gcBgMarkWorker.func2 < runtime.gcBgMarkWorker":                                                                                                        "garbage collection",
		"runtime.gcAssistAlloc < runtime.mallocgc < netdyno/internal/work/codec.Encode < netdyno/internal/work/codec.(*Exchange).Request":                                                                     "garbage collection",
		"runtime.futex < runtime.notewakeup < runtime.gcMarkDone < runtime.gcBgMarkWorker":                                                                                                                    "garbage collection",
		"encoding/json.(*encodeState).string < encoding/json.Marshal < netdyno/internal/work/codec.JSON.Encode < netdyno/internal/work/codec.Encode":                                                          "encode",
		"runtime.memmove < google.golang.org/protobuf/proto.MarshalOptions.marshal < netdyno/internal/work/codec.Encode":                                                                                      "encode",
		"runtime.mallocgcSmallScanNoHeader < runtime.mallocgc < netdyno/internal/work/codec.Decode < google.golang.org/grpc.(*Server).processUnaryRPC":                                                        "decode",
		"runtime.futex < runtime.futexsleep < runtime.notesleep < runtime.stopm < runtime.findRunnable < runtime.schedule < runtime.mcall":                                                                    "scheduler",
		"internal/runtime/syscall/linux.Syscall6 < internal/runtime/syscall/linux.EpollWait < runtime.netpoll < runtime.findRunnable":                                                                         "scheduler",
		"runtime.futex < runtime.futexwakeup < runtime.wakep < runtime.ready < runtime.goready < google.golang.org/grpc/internal/transport.(*x).put":                                                          "scheduler",
		"internal/runtime/syscall/linux.Syscall6 < syscall.RawSyscall6 < syscall.Syscall < syscall.write < internal/poll.(*FD).Write < net.(*conn).Write < crypto/tls.(*Conn).Write < net/http.(*conn).serve": "system calls",
		"syscall.RawSyscall6 < netdyno/internal/work/transport/goepoll.(*poller).wait":                                                                                                                        "system calls",
		"runtime.casgstatus < runtime.exitsyscall < syscall.Syscall < net.(*conn).Read":                                                                                                                       "system calls",
		"runtime.memclrNoHeapPointers < runtime.mallocgc < runtime.growslice < io.ReadAll < main.read":                                                                                                        "allocation",
		"runtime.memmove < runtime.growslice < io.ReadAll < netdyno/internal/work/transport/gohttp1.(*client).all":                                                                                            "copying",
		"crypto/internal/fips140/aes/gcm.gcmAesEnc < crypto/tls.(*Conn).writeRecordLocked < net/http.(*conn).serve":                                                                                           "tls",
		"bufio.(*Reader).Peek < net/http.(*conn).serve":                                                                                                                                                       "library",
		"compress/flate.(*compressor).deflate < connectrpc.com/connect.(*duplexHTTPCall).Send < netdyno/internal/work/x":                                                                                      "library",
		"google.golang.org/grpc/internal/transport.(*loopyWriter).run":                                                                                                                                        "library",
		"net.(*conn).Read < netdyno/internal/work/transport/gonet.(*client).exchange":                                                                                                                         "library",
		"github.com/valyala/fasthttp.(*Server).serveConn":                                                                                                                                                     "library",
		"runtime.nanotime1 < time.now < netdyno/internal/work/load.Now < net/http.HandlerFunc.ServeHTTP":                                                                                                      "netdyno",
		"netdyno/internal/work/load.(*Slot).Done < github.com/valyala/fasthttp.(*Server).serveConn":                                                                                                           "netdyno",
		"main.run[go.shape.struct { github.com/x/y.T }]":                                                                                                                                                      "netdyno",
		"sort.Sort[github.com/x/y.T]": "rest",
		"runtime.asyncPreempt":        "rest",
		"networking.Go":               "rest",
		"":                            "rest",
	} {
		c := classifier{map[string]standing{}}
		if got := classes[c.rank(strings.Split(stack, " < "))].Name; got != want {
			t.Errorf("%s: %s, want %s", stack, got, want)
		}
	}
	c := classifier{map[string]standing{}}
	if got := classes[c.rank(nil)].Name; got != "rest" {
		t.Errorf("an empty stack: %s", got)
	}
}

// The order that rank relies on: what calls decide comes before what owners do.
func TestActivitiesAreInOrder(t *testing.T) {
	owned := false
	names := map[string]bool{}
	for i, a := range Activities() {
		if names[a.Name] || a.Name == "" || a.Doc == "" || len(a.calls) > 0 && (owned || len(a.owns) > 0) {
			t.Errorf("activity %d is out of order or undocumented: %+v", i, a)
		}
		names[a.Name], owned = true, owned || len(a.owns) > 0
		if last := i == len(classes)-1; last != (len(a.calls)+len(a.owns) == 0) {
			t.Errorf("%s: only the last takes what nothing else does", a.Name)
		}
	}
}
