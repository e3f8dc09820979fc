package profile

import (
	"encoding/hex"
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
		if got := activityOf(trace{functions: strings.Split(stack, " < ")}); got != want {
			t.Errorf("%s: %s, want %s", stack, got, want)
		}
	}
	if got := activityOf(trace{}); got != "rest" {
		t.Errorf("an empty stack: %s", got)
	}
}

func activityOf(t trace) string {
	c := classifier{map[symbol]standing{}}
	return classes[c.rank(t)].Name
}

// Stacks as perf 6.1 sees them: the kernel's functions, then those of the program.
func TestKernelAndNativeStacksHaveTheirActivity(t *testing.T) {
	for stack, want := range map[string]string{
		"copy_user_enhanced_fast_string < copyin < _copy_from_iter < tcp_sendmsg_locked < tcp_sendmsg < sock_sendmsg < __sys_sendto < do_syscall_64 | send < netdyno::asio::Connection::write": "kernel: copying",
		"kmem_cache_alloc < __alloc_skb < tcp_stream_alloc_skb < tcp_sendmsg_locked < do_syscall_64 | internal/runtime/syscall/linux.Syscall6 < syscall.write < net.(*conn).Write":             "kernel: TCP/IP",
		"_raw_spin_unlock_irqrestore < try_to_wake_up < ep_autoremove_wake_function < sock_def_readable < tcp_rcv_established < ip_rcv < net_rx_action < tcp_sendmsg < do_syscall_64 | send":   "kernel: polling, wakeups",
		"tcp_poll < sock_poll < ep_item_poll < do_epoll_wait < __x64_sys_epoll_wait < do_syscall_64 | epoll_wait < boost::asio::detail::epoll_reactor::run":                                    "kernel: polling, wakeups",
		"futex_wake < do_futex < do_syscall_64 | runtime.futex < runtime.notewakeup < runtime.ready":                                                                                           "kernel: polling, wakeups",
		"io_issue_sqe < io_submit_sqes < __do_sys_io_uring_enter < do_syscall_64 | [liburing.so.2.3] < netdyno::uring::Loop::run":                                                              "kernel: polling, wakeups",
		"tcp_recvmsg < inet_recvmsg < io_recv < io_issue_sqe < do_syscall_64":                                                                                                                  "kernel: TCP/IP",
		"clear_page_erms < __alloc_pages < do_anonymous_page < asm_exc_page_fault | runtime.memclrNoHeapPointers < runtime.mallocgc":                                                           "kernel: memory",
		"syscall_return_via_sysret < entry_SYSCALL_64_after_hwframe | write":                                                                                                                   "kernel: other",
		"copyout < _copy_to_iter < tcp_recvmsg | runtime.gcDrain < runtime.gcBgMarkWorker":                                                                                                     "garbage collection",
		"asm_exc_page_fault | runtime.memmove < netdyno/internal/work/codec.Encode":                                                                                                            "encode",
		"[kernel, names hidden by kernel.kptr_restrict] | epoll_wait < event_base_loop":                                                                                                        "system calls",
		"[kernel] | runtime.futex < runtime.stopm < runtime.findRunnable":                                                                                                                      "scheduler",
		"[kernel] | send < netdyno::Connection::write":                                                                                                                                         "system calls",
		"| malloc < operator new < netdyno::Slot::begin":                                                                                                                                       "allocation",
		"| __memmove_avx_unaligned_erms < evbuffer_add":                                                                                                                                        "copying",
		"| netdyno::v1::Message::_InternalSerialize < google::protobuf::MessageLite::SerializeToArray < netdyno::grpcpp::Payload::out":                                                         "encode",
		"| malloc < grpc::SerializationTraits<netdyno::v1::Block, void>::Deserialize < netdyno::grpcpp::Payload::in":                                                                           "decode",
		"| aesni_gcm_encrypt < EVP_EncryptUpdate < SSL_write < netdyno::Connection::write":                                                                                                     "tls",
		"| boost::asio::detail::epoll_reactor::descriptor_state::do_complete < boost::asio::detail::scheduler::run < netdyno::Loop::run":                                                       "library",
		"| netdyno::Histogram::add < boost::asio::detail::scheduler::run":                                                                                                                      "netdyno",
		"| epoll_dispatch < event_base_loop < netdyno::libevent::Loop::run":                                                                                                                    "library",
		"| [libc.so.6] < netdyno::Loop::run": "netdyno",
		"| [nginx] < [nginx]":                "unnamed code",
		"| freeaddrinfo":                     "rest",
		"| tcp_sendmsg":                      "rest",
	} {
		kernel, program, _ := strings.Cut(stack, "|")
		at := trace{functions: strings.Split(strings.TrimSpace(kernel), " < ")}
		if at.kernel = len(at.functions); kernel == "" {
			at = trace{}
		}
		if program != "" {
			at.functions = append(at.functions, strings.Split(strings.TrimSpace(program), " < ")...)
		}
		if got := activityOf(at); got != want {
			t.Errorf("%s: %s, want %s", stack, got, want)
		}
	}
}

// Folded, a stack is what Go's own profiler would have seen: the kernel's work counts as
// the system call's.
func TestFoldedStacksShowNoKernel(t *testing.T) {
	at := trace{[]string{"copyin", "tcp_sendmsg", "internal/runtime/syscall/linux.Syscall6", "net.(*conn).Write"}, 2}
	if got := at.folded(); activityOf(got) != "system calls" || strings.Join(got.functions, " ") != "[kernel] internal/runtime/syscall/linux.Syscall6 net.(*conn).Write" {
		t.Errorf("%v: %s", got, activityOf(got))
	}
	if own := (trace{functions: at.functions[2:]}); strings.Join(own.folded().functions, " ") != strings.Join(own.functions, " ") {
		t.Errorf("%v", own.folded())
	}
}

// Every activity can be told from the others, by its name and by its colour, and takes
// something; only the last takes what nothing else does.
func TestActivitiesAreDistinct(t *testing.T) {
	names, colours := map[string]bool{}, map[string]bool{}
	for i, a := range Activities() {
		rgb, err := hex.DecodeString(a.Colour)
		if names[a.Name] || colours[a.Colour] || a.Name == "" || a.Doc == "" || err != nil || len(rgb) != 3 {
			t.Errorf("activity %d is not distinct or not documented: %+v", i, a)
		}
		names[a.Name], colours[a.Colour] = true, true
		takes := len(a.calls)+len(a.owns)+len(a.kernel) > 0 || a.Name == otherKernel
		if last := i == len(classes)-1; last == takes {
			t.Errorf("%s: only the last takes what nothing else does", a.Name)
		}
	}
}
