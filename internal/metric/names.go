package metric

import "netdyno/internal/contract"

// Before the name of a metric that both ends have: OfServer + Cores is
// "server.cores".
const (
	OfServer = string(contract.Server) + "."
	OfClient = string(contract.Client) + "."
)

// Names of the metrics that other packages speak of, as users type them. No other
// file of the program spells them.
const (
	ExchangesPerS = "exchanges_per_s"
	Goodput       = "goodput_bytes_per_s"
	OfferedShare  = "offered_share"
	// ErrorShare is the one metric to which a trial has something to say that is invalid
	// because exchanges failed. It is 0 wherever none did, so its mean is arithmetic
	// everywhere.
	ErrorShare        = "error_share"
	WorkS             = "work_s"
	WarmUp            = "warmup_s"
	Unfinished        = "unfinished"
	UnfinishedAge     = "unfinished_age_max_us"
	ArrivalGapCV      = "arrival_gap_cv"
	ResponseP50       = "response_p50_us"
	ResponseP99       = "response_p99_us"
	ServiceP50        = "service_p50_us"
	ServiceP99        = "service_p99_us"
	SlowdownP50       = "slowdown_p50"
	SlowdownP99       = "slowdown_p99"
	LagP99            = "lag_p99_us"
	HostSteal         = "host.steal_share"
	LinkRateShare     = "link_rate_share"
	LinkRxBytes       = "link_rx_bytes_per_s"
	LinkTxBytes       = "link_tx_bytes_per_s"
	LinkRxPackets     = "link_rx_packets_per_s"
	LinkTxPackets     = "link_tx_packets_per_s"
	EventBytes        = "event_bytes"
	SlowestConnection = "slowest_connection_bytes_per_s"
	FastestConnection = "fastest_connection_bytes_per_s"
	DatagramsPerSend  = "udp_datagrams_per_send"
)

// Names of metrics of one end, which follow OfServer or OfClient.
const (
	CPUPerExchange      = "cpu_us_per_exchange"
	CPUPerGB            = "cpu_s_per_gb"
	Cores               = "cores"
	MeterShare          = "meter_share"
	RSS                 = "rss_bytes"
	PeakRSS             = "peak_rss_bytes"
	StartRSS            = "start_rss_bytes"
	StartUp             = "startup_s"
	Hello               = "hello_s"
	Heap                = "heap_bytes"
	HeapSys             = "heap_sys_bytes"
	StackSys            = "stack_sys_bytes"
	Threads             = "threads"
	Goroutines          = "goroutines"
	GCShare             = "gc_cpu_share"
	GCCycles            = "gc_cycles_per_s"
	GCPauses            = "gc_pause_us_per_s"
	GCPausePerCycle     = "gc_pause_us_per_cycle"
	AllocPerExchange    = "alloc_bytes_per_exchange"
	TCPRTT              = "tcp_rtt_us"
	TCPCongestionWindow = "tcp_congestion_window_bytes"
	TCPRetransmitShare  = "tcp_retransmit_share"
	TCPBusyShare        = "tcp_busy_share"
	TCPReceiveWindow    = "tcp_receive_window_share"
	TCPSendBuffer       = "tcp_send_buffer_share"
	Unread              = "unread_bytes"
	UDPDrops            = "udp_drops_per_s"
	UDPUndelivered      = "udp_undelivered_per_s"
	UDPFailedSends      = "udp_failed_sends_per_s"
)
