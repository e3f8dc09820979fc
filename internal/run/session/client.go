package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/arrange"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// natives are the clients of a wire that take the least CPU of this host, the least first, as
// docs/benchmarks.md has it.
var natives = map[string][]string{
	"http/1.1":        {"http1-uring", "http1-asio"},
	"h2c":             {"h2-uring", "h2-asio"},
	"grpc:netdyno.v1": {"grpc-nghttp2", "grpc-nghttp2-asio"},
}

// CheapestClient returns the client of a wire that takes the least CPU of this host,
// where it can be told beforehand that it runs here and has the features; else "".
func CheapestClient(ctx context.Context, wire string, needs ...contract.Feature) string {
	directories, err := places()
	if err != nil {
		return ""
	}
	for _, name := range natives[wire] {
		if !strings.HasSuffix(name, onEpoll) && !Rings() {
			continue
		}
		offered, found := bench.Offered(ctx, directories, bench.WorkerPrefix+name, name)
		lacks := func(f contract.Feature) bool { return !slices.Contains(offered.Features, f) }
		if found && !slices.ContainsFunc(needs, lacks) {
			return name
		}
	}
	return ""
}

// onEpoll ends the names of native clients that need no io_uring.
const onEpoll = "-asio"

// Rings tells whether this process may set up an io_uring of Linux 6.0, which knew the
// flag first. A sandbox or a sysctl may forbid it.
func Rings() bool {
	const singleIssuer = 1 << 12              // IORING_SETUP_SINGLE_ISSUER
	parameters := [30]uint32{2: singleIssuer} // struct io_uring_params
	fd, _, failed := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&parameters)), 0)
	if failed != 0 {
		return false
	}
	_ = unix.Close(int(fd)) // nothing was submitted to it
	return true
}

// Native tells whether a client is one of those that CheapestClient names.
func Native(client string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(natives)), func(names []string) bool { return slices.Contains(names, client) })
}

// TryClient makes one exchange with an arm's server, by the arm's own client on this
// host, and adds to asked how many requests that took, of which a share may fail. It returns
// why the client could not; an error is no word of the client's.
func TryClient(ctx context.Context, workers *Workers, arm Arm, asked *record.Asked, maxErrors float64) (why string, err error) {
	var held texts
	defer func() { err = errors.Join(err, held.remove()) }()
	arm.Levels = maps.Clone(arm.Levels)
	if err := held.name(Request{Arms: []Arm{arm}}); err != nil {
		return "", err
	}
	if _, err := held.stage(); err != nil {
		return "", err
	}
	a, err := source.ReadArguments([]string{"connections=1", "amount=1", "blocks=1", "placement=shared", "max_errors=" + strconv.FormatFloat(maxErrors, 'f', -1, 64)})
	if err != nil {
		return "", err
	}
	if err := a.AddArm(arm.Given, "tried", arm.Levels); err != nil {
		return "", err
	}
	s, err := a.Study(os.ReadFile)
	if err != nil {
		return "", err
	}
	trials, _, err := s.Plan()
	if err != nil {
		return "", err
	}
	catalog, err := workers.Catalog(ctx, nil)
	if err != nil {
		return "", err
	}
	program, err := hostProgram()
	if err != nil {
		return "", err
	}
	b := BenchOf(filepath.Dir(program), catalog)
	b.Meter = nil // its word is asked for, and none of its costs
	b.Texts = func(host rig.Host, level string) (string, error) { return held.path("", host, level) }
	records, err := Conduct(ctx, b, trials[:1])
	if err != nil {
		return "", err
	}
	sent, known := records[0].Sent()
	asked.Client, asked.Untold = sent.All(), !known
	if f := records[0].Failure; f != nil {
		asked.Client += f.Asked
		return f.Text, nil
	}
	return "", nil
}

// clientsOnly checks the trials of a rig whose server stands elsewhere: every arm
// drives that one server, whatever the study calls it.
type clientsOnly struct {
	catalog *bench.Catalog
	servers []string // what the study calls the server, by arm
	clients []string
}

// pairs reports why a trial's client cannot be had.
func (c *clientsOnly) pairs(w study.Work) error {
	_, err := c.catalog.Offer(w.Client, w.Exchange.Codec)
	return err
}

// takes reports what a trial asks that only its server could give it.
func (c *clientsOnly) takes(w study.Work) error {
	c.servers, c.clients = append(c.servers, w.Server), append(c.clients, w.Client)
	if w.Server != c.servers[0] {
		return fmt.Errorf("its server is %s and another arm's is %s, but one server stands there; vary client=%s,%s instead, or run each against its own",
			w.Server, c.servers[0], c.clients[0], w.Client)
	}
	_, err := c.catalog.ClientOnly(w)
	return err
}

// leaveServerOut removes the server's metrics from a study's primary ones. Nobody
// here meters the server of such a rig, so they could never be compared.
func leaveServerOut(s *study.Study) {
	mine := slices.DeleteFunc(slices.Clone(s.Compare.Primary), func(metric string) bool {
		return strings.HasPrefix(metric, string(contract.Server)+".") || strings.HasPrefix(metric, "host.")
	})
	if len(mine) == 0 {
		mine = []string{metric.ExchangesPerS}
	}
	s.Compare.Primary = mine
}

// nameServer completes the arguments of a study that names only its client, for a
// server that stands elsewhere: the server is then named like the client.
func nameServer(a *source.Arguments, option string) error {
	if a.Named() != "" || !a.Sets("client") || a.Sets("server") || a.Sets("transport") {
		return nil
	}
	return a.Set(option, "server", a.First("client"))
}

// holdLink adds what the rig says of its link.
func holdLink(a *source.Arguments, option string, choice arrange.Choice) error {
	levels := choice.Levels()
	for _, factor := range slices.Sorted(maps.Keys(levels)) {
		if err := a.Set(option, factor, levels[factor]); err != nil {
			return err
		}
	}
	return nil
}
