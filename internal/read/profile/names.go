package profile

// The functions of Go programs by activity, as Go 1.26 names them.
var (
	goCollector = []string{
		"runtime.gcBgMarkWorker", "runtime.gcAssist", "runtime.gcStart", "runtime.gcMark", "runtime.gcDrain", "runtime.gcSweep",
		"runtime.bgsweep", "runtime.bgscavenge", "runtime.sweepone", "runtime.(*sweepLocked).", "runtime.deductSweepCredit",
		"runtime.wbBufFlush", "runtime.scanobject", "runtime.markroot",
	}
	goEncode    = []string{"netdyno/internal/work/codec.Encode"}
	goDecode    = []string{"netdyno/internal/work/codec.Decode"}
	goScheduler = []string{
		"runtime.mcall", "runtime.schedule", "runtime.findRunnable", "runtime.findrunnable", "runtime.park_m", "runtime.goexit0", "runtime.gosched", "runtime.gopreempt",
		"runtime.goready", "runtime.ready", "runtime.wakep", "runtime.startm", "runtime.stopm", "runtime.mstart", "runtime.sysmon", "runtime.netpoll",
		"runtime.futex", "runtime.note", "runtime.sema",
	}
	goSystemCalls = []string{
		"syscall.Syscall", "syscall.RawSyscall", "syscall.rawSyscall", "syscall.runtime_", "internal/runtime/syscall", "runtime/internal/syscall",
		"golang.org/x/sys/unix.Syscall", "golang.org/x/sys/unix.RawSyscall", "runtime.entersyscall", "runtime.reentersyscall", "runtime.exitsyscall",
	}
	goAllocation = []string{
		"runtime.mallocgc", "runtime.newobject", "runtime.(*mcache).", "runtime.(*mcentral).", "runtime.(*mheap).alloc", "runtime.newstack", "runtime.copystack",
	}
	goCopying = []string{"runtime.memmove", "runtime.typedmemmove", "runtime.typedslicecopy", "runtime.memclr"}
	goTLS     = []string{"crypto/", "golang.org/x/crypto/", "vendor/golang.org/x/crypto/"}
	goNetdyno = []string{"netdyno/", "main.", "github.com/HdrHistogram/"}
	goLibrary = []string{"net.", "net/", "internal/poll.", "vendor/golang.org/x/net/", anyModule}
)

// The functions of C and C++ programs by activity. C's names are whole ones, because
// short words begin many others.
var (
	nativeEncode = []string{
		"google::protobuf::MessageLite::Serialize", "google::protobuf::MessageLite::AppendPartial", "google::protobuf::io::EpsCopyOutputStream",
		"*::_InternalSerialize", "*::ByteSizeLong", "*>::Serialize", "*ProtoBufferWriter",
	}
	nativeDecode = []string{
		"google::protobuf::MessageLite::Parse", "google::protobuf::MessageLite::MergeFrom", "google::protobuf::MessageLite::MergePartial",
		"google::protobuf::internal::TcParser", "google::protobuf::internal::EpsCopyInputStream", "*::_InternalParse", "*>::Deserialize", "*ProtoBufferReader",
	}
	nativeSystemCalls = []string{
		"read$", "write$", "readv$", "writev$", "send$", "recv$", "sendto$", "recvfrom$", "sendmsg$", "recvmsg$", "sendfile$", "sendfile64$", "splice$", "ioctl$",
		"__read$", "__write$", "__send$", "__recv$", "__libc_read", "__libc_write", "__libc_send", "__libc_recv", "__GI___libc_",
		"epoll_wait$", "epoll_pwait$", "epoll_ctl$", "__epoll_", "poll$", "__poll$", "select$", "__select$", "syscall$", "__syscall", "__io_uring_sys_", "io_uring_enter",
		"pthread_cond_", "__pthread_cond_", "__futex_", "__lll_lock_wa",
	}
	nativeAllocation = []string{
		"malloc$", "free$", "calloc$", "realloc$", "cfree", "malloc@", "free@", "posix_memalign$", "aligned_alloc$", "memalign$",
		"__libc_malloc", "__libc_free", "__libc_calloc", "__libc_realloc", "_int_malloc", "_int_free", "_int_realloc", "_int_memalign", "__GI___libc_malloc", "__GI___libc_free",
		"malloc_consolidate", "unlink_chunk", "sysmalloc", "systrim", "tcache_", "operator new", "operator delete", "tcmalloc::", "je_", "mi_malloc", "mi_free",
	}
	nativeCopying = []string{
		"memcpy", "memmove", "mempcpy", "memset", "__memcpy", "__memmove", "__mempcpy", "__memset", "__GI_mem", "__bzero",
	}
	nativeTLS = []string{
		"SSL_", "ssl_", "ssl3_", "tls1", "tls_", "EVP_", "evp_", "CRYPTO_", "ossl_", "OPENSSL_", "gcm_", "aesni_", "aes_", "vaes_", "ChaCha20_", "poly1305_", "bssl::", "tsi_", "BIO_",
	}
	nativeNetdyno = []string{"netdyno::", "(anonymous namespace)::", "main$"}
	nativeLibrary = []string{
		"boost::asio::", "boost::system::", "asio::", // asio
		"event_", "evbuffer_", "bufferevent_", "evutil_", "evmap_", "epoll_dispatch", "epoll_apply_", "evthread_", // libevent
		"io_uring_", "__io_uring_", // liburing
		"grpc::", "grpc_", "grpc_core::", "absl::", "google::protobuf::", "upb_", // gRPC
		"brpc::", "bthread", "butil::", "bvar::", // Apache brpc
		"iperf_", "Iperf", "sockperf", "Client::", "Server::", // programs that measure themselves
	}
)

// The functions of Linux by activity, as kernels 5.4 to 6.17 name them. The nearest to
// what was executing decides, so helpers need no line: kmem_cache_alloc below __alloc_skb
// is the network's. What two lists name belongs to the activity that ranks first.
var (
	kernelCopying = []string{
		"copy_user", "copy_from_user", "copy_to_user", "_copy_from_user", "_copy_to_user", "__copy_user", "raw_copy_", "rep_movs", "__arch_copy_",
		"copyin$", "copyout$", "_copy_to_iter", "_copy_from_iter", "copy_to_iter", "copy_from_iter", "copy_page_to_iter", "copy_page_from_iter",
		"simple_copy_to_iter", "skb_copy_datagram", "__skb_datagram_iter", "skb_copy_bits", "skb_copy_and_csum", "skb_do_copy_data", "csum_partial_copy", "csum_and_copy",
		"__check_object_size", "check_heap_object", "__check_heap_object",
	}
	kernelPolling = []string{
		"ep_", "__ep_", "do_epoll", "epoll_", "eventpoll_", "__x64_sys_epoll", "__do_sys_epoll", "__se_sys_epoll", "__arm64_sys_epoll",
		"sock_poll", "tcp_poll", "tcp_stream_memory_free", "do_poll", "do_sys_poll", "__x64_sys_poll", "__x64_sys_ppoll", "do_select", "core_sys_select", "__pollwait", "poll_", "pollwake",
		"try_to_wake_up", "ttwu_", "wake_up", "__wake_up", "default_wake_function", "autoremove_wake_function", "woken_wake_function", "wake_q_", "select_task_rq",
		"schedule", "__schedule", "preempt_schedule", "finish_task_switch", "__switch_to", "switch_mm", "context_switch", "pick_next_task", "enqueue_task", "dequeue_task",
		"wait_woken", "sk_wait_data", "futex_", "__futex", "do_futex", "__x64_sys_futex", "__do_sys_futex", "__se_sys_futex", "__arm64_sys_futex", "hrtimer_nanosleep", "do_nanosleep", "do_sched_yield", "__x64_sys_sched_yield",
		"io_", "__io_", "__do_sys_io_uring", "__se_sys_io_uring", "__x64_sys_io_uring", "__arm64_sys_io_uring", "tctx_task_work",
	}
	kernelNetwork = []string{
		"tcp_", "__tcp_", "udp_", "__udp_", "ip_", "__ip_", "ip6_", "__ip6_", "ipv4_", "ipv6_", "inet_", "__inet_", "inet6_", "raw_local_deliver",
		"sock_", "__sock_", "sockfd_", "____sys_", "___sys_", "__sys_send", "__sys_recv", "__sys_accept", "__sys_connect", "__x64_sys_send", "__x64_sys_recv", "lock_sock", "__lock_sock", "release_sock", "__release_sock", "sk_", "__sk_",
		"skb_", "__skb_", "alloc_skb", "__alloc_skb", "kfree_skb", "__kfree_skb", "consume_skb", "napi_", "__napi_", "build_skb", "__build_skb",
		"net_rx_action", "net_tx_action", "netif_", "__netif_", "process_backlog", "enqueue_to_backlog", "dev_", "__dev_", "loopback_", "veth_", "br_", "validate_xmit", "xmit_one",
		"qdisc_", "__qdisc", "pfifo_", "fq_", "tbf_", "netem_", "sch_", "neigh_", "dst_", "eth_", "fib_", "rt_",
		"nf_", "nft_", "ipt_", "xt_", "__cgroup_bpf_run_filter", "security_sock", "security_socket", "bpf_skb",
	}
	kernelMemory = []string{
		"exc_page_fault", "asm_exc_page_fault", "do_user_addr_fault", "do_page_fault", "handle_mm_fault", "__handle_mm_fault", "do_anonymous_page", "clear_page", "clear_huge_page",
		"do_mmap", "vm_mmap_", "__x64_sys_mmap", "ksys_mmap", "do_munmap", "__do_munmap", "do_vmi_", "__vm_munmap", "__x64_sys_munmap", "unmap_", "zap_", "madvise_", "do_madvise", "__x64_sys_madvise",
		"do_mprotect", "mprotect_", "__x64_sys_mprotect", "do_brk", "__x64_sys_brk", "__do_sys_brk", "tlb_", "flush_tlb",
	}
	kernelHidden = []string{theKernel, hiddenKernel}
)
