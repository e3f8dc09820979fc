package profile

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
