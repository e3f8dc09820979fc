package study

// spellings are the names by which users of other tools know factors.
var spellings = map[string]string{
	"concurrency": "connections",
	"conns":       "connections",
	"duration":    "window",
	"time":        "window",
	"qps":         "rate",
	"rps":         "rate",
	"pipeline":    "inflight",
	"streams":     "connections",
}

// messageSizes answers names that mean two factors.
const messageSizes = "write request=SIZE for the message from client to server and response=SIZE for the one back"

// unclear are names that stand for no one factor, with what to write instead.
var unclear = map[string]string{
	"payload":     messageSizes,
	"size":        messageSizes,
	"messagesize": messageSizes,
	"protocol":    "write transport=NAME; netdyno transports lists them",
}
