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
