package tool

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"time"

	"netdyno/internal/contract"
)

// Muduo is transport muduo: ping-pong by the two programs of muduo's
// examples/pingpong. Each connection begins with one block; from then on either end
// sends back whatever an event gave it.
func Muduo() Transport {
	t := pingPong("muduo", "pingpong")
	t.origin = "make pingpong_server pingpong_client in muduo (github.com/chenshuo/muduo), and put them on PATH or name them by opt.server.program and opt.client.program"
	t.serve = func(setup contract.Setup, host, port string) []string {
		return []string{host, port, strconv.Itoa(loopsOf(setup))}
	}
	return Transport{t}
}

// Evpp is transport evpp: the same by evpp's benchmark/throughput/evpp, which was made of
// muduo's. Its server listens on every address, and its client, once it has reported, does
// not always end by itself (libevent 2.1.12).
func Evpp() Transport {
	t := pingPong("evpp", "benchmark_pingpong")
	t.origin = "make benchmark_pingpong_server benchmark_pingpong_client in evpp (github.com/Qihoo360/evpp), and put them on PATH or name them by opt.server.program and opt.client.program"
	t.before = []string{"env", "GLOG_logtostderr=1"} // else glog leaves files in /tmp
	t.stderr = true
	t.serve = func(setup contract.Setup, _, port string) []string {
		return []string{port, strconv.Itoa(loopsOf(setup))}
	}
	return Transport{t}
}

// pingPong is what both pairs have in common: the client's command line and report.
func pingPong(name, program string) tool {
	return tool{
		name: name, doc: "ping-pong by " + name + "'s own two programs: either end sends back whatever it has received",
		program: program + "_client", server: program + "_server", fixed: true,
		options: []contract.Option{{
			Name: "program", Type: contract.TypeText, Default: "",
			Doc: "the end's program, a path or a name on PATH; empty is " + program + "_server, and " + program + "_client",
		}},
		refuse:  func(setup contract.Setup) error { return refusePingPong(name, setup) },
		threads: func(setup contract.Setup, processes int) int { return processes * loopsOf(setup) },
		drive: func(setup contract.Setup, f flow) []string {
			return []string{
				f.host, f.port, strconv.Itoa(loopsOf(setup)), strconv.FormatInt(f.size, 10),
				strconv.Itoa(f.connections), strconv.FormatInt(int64(runTime(setup)/time.Second), 10),
			}
		},
		runs: runTime,
		read: func(_ flow, printed []byte, _ window) (selfReport, error) { return readPingPong(name, printed) },
	}
}

// loopsOf is how many event loops a process is told to have: as many as it may use CPUs,
// unless the trial says.
func loopsOf(setup contract.Setup) int {
	if setup.Threads > 0 {
		return setup.Threads
	}
	return runtime.NumCPU() // of the worker's affinity, which its programs inherit
}

func refusePingPong(name string, setup contract.Setup) error {
	x := setup.Exchange
	switch {
	case x.UpBytes != x.DownBytes || x.UpBytes < 1 || x.UpBytes > math.MaxInt32:
		return fmt.Errorf("%s returns what it sends: request is %d and response %d bytes, expected both equal, and at least 1", name, x.UpBytes, x.DownBytes)
	case setup.Load.InFlight > 1:
		return fmt.Errorf("%s keeps one block in flight on each connection (in_flight is %d)", name, setup.Load.InFlight)
	}
	return nil
}
