package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/run/rig/namespaces"
)

// What osu_bw keeps outstanding before it asks for a confirmation.
const mpiWindow = 64

// mpiLibrary is an MPI library: our transport on it, and how its own launcher
// starts the bare peer by a fabric, both ranks on this host.
type mpiLibrary struct {
	transport, bare, osu, launcher string
	free                           []string // the launcher pins nothing
	fabric                         map[string][]string
}

var mpiLibraries = []mpiLibrary{
	{"mpi", "bare-mpi", "osu_bw", "mpirun.openmpi", []string{"--bind-to", "none", "--host", "localhost:2", "--mca", "pml", "ob1"}, map[string][]string{
		"tcp": {"--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"},
		"shm": {"--mca", "btl", "vader,self"},
	}},
	{"mpich", "bare-mpich", "osu_bw.mpich", "mpirun.mpich", []string{"-bind-to", "none"}, map[string][]string{
		"tcp": {"-genv", "MPIR_CVAR_NOLOCAL", "1", "-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "lo"},
		"shm": {"-genv", "UCX_TLS", "posix,sysv,cma,self"},
	}},
}

// mpiQuestions put windowed bandwidth of our workers on MPI beside a plain
// program that mpirun starts.
func (b *bed) mpiQuestions() []question {
	var all []question
	for _, library := range mpiLibraries {
		for _, fabric := range []string{"tcp", "shm"} {
			for _, size := range []int{8, 64 << 10, 1 << 20} {
				all = append(all, question{
					name: fmt.Sprintf("mpi: %s over %s, %d B, against plain MPI", library.transport, fabric, size),
					unit: "bytes/s", hoped: mpiAsked(size), ours: []string{library.transport},
					needs: []string{library.launcher},
					base:  b.plain(library, fabric, size), others: []subject{b.windowed(library, fabric, size)},
				})
			}
		}
	}
	return all
}

// mpiAsked is what a message may lose to the account that we keep of it.
func mpiAsked(size int) string {
	if size < 1<<10 {
		return "≥ 0.95"
	}
	return "≥ 0.98"
}

// windowed is a subject that sends windows of 64 messages, each window confirmed. Both
// sides poll, so that CPU time tells no more than the rate does.
func (b *bed) windowed(library mpiLibrary, fabric string, size int) subject {
	return b.ours("netdyno "+library.transport, metric.Goodput, true, "transport="+library.transport, "opt.fabric="+fabric,
		"stream=up", "connections=1", fmt.Sprintf("request=%dB", mpiWindow*size), fmt.Sprintf("chunk=%dB", size), "response=1B")
}

// plain are the bare peer and, where it is on PATH, OSU's program, as it was built for
// the library.
func (b *bed) plain(library mpiLibrary, fabric string, size int) []subject {
	all := []subject{b.plainMPI(library, fabric, size)}
	if len(absent([]string{library.osu})) == 0 {
		all = append(all, subject{library.osu, func(ctx context.Context) (figure, error) {
			out, err := ranks(ctx, library, fabric, []string{library.osu, "-m", fmt.Sprintf("%d:%d", size, size), "-W", strconv.Itoa(mpiWindow),
				"-i", strconv.Itoa(osuWindows(b.window, size))})
			if err != nil {
				return figure{}, err
			}
			rate, err := osuBandwidth(string(out), size)
			return figure{value: rate}, err
		}})
	}
	return all
}

// osuWindows is how many windows osu_bw sends in about the time of one of ours: a message takes
// some 80 ns, and 150 ns more for each KiB. By itself it sends 100, which last 1 ms.
func osuWindows(window time.Duration, size int) int {
	message := 80*time.Nanosecond + 150*time.Nanosecond*time.Duration(size)/1024
	return max(100, int(window/(mpiWindow*message)))
}

// osuBandwidth reads what osu_bw printed: a line of the size and of 10⁶ bytes per second.
func osuBandwidth(text string, size int) (bytesPerS float64, err error) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != strconv.Itoa(size) {
			continue
		}
		if rate, err := strconv.ParseFloat(words[1], 64); err == nil && rate > 0 {
			return rate * 1e6, nil
		}
	}
	return 0, fmt.Errorf("osu_bw printed no bandwidth of %d bytes: %q", size, text)
}

// ranks runs a program by a library's launcher, one CPU for each of its two ranks.
func ranks(ctx context.Context, library mpiLibrary, fabric string, program []string) ([]byte, error) {
	rank := func(cpu string) []string { return append([]string{"-n", "1", "taskset", "-c", cpu}, program...) }
	argv := slices.Concat(library.free, library.fabric[fabric], rank(serverCPU), []string{":"}, rank(clientCPU))
	c := exec.CommandContext(ctx, library.launcher, argv...)
	c.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w; it said: %s", library.launcher, err, said.String())
	}
	return out, nil
}

// plainMPI is a subject of the bare peer.
func (b *bed) plainMPI(library mpiLibrary, fabric string, size int) subject {
	return subject{library.bare, func(ctx context.Context) (figure, error) {
		out, err := ranks(ctx, library, fabric, []string{filepath.Join(b.peers, library.bare), strconv.Itoa(size), fmt.Sprint(b.window.Seconds())})
		if err != nil {
			return figure{}, err
		}
		var counted struct{ Exchanges, Seconds float64 }
		if err := json.Unmarshal(out, &counted); err != nil || counted.Seconds <= 0 {
			return figure{}, fmt.Errorf("%s printed %q: %w", library.bare, out, err)
		}
		return figure{value: counted.Exchanges * mpiWindow * float64(size) / counted.Seconds}, nil
	}}
}

// mpiStart measures how long a trial on MPI takes until both ranks are ready.
func (b *bed) mpiStart(ctx context.Context) error {
	fmt.Println("\nmpi-start: both ranks ready, two namespaces (hoped: ≤ 1 s)")
	for _, library := range mpiLibraries {
		if len(b.unoffered([]string{library.transport})) > 0 {
			fmt.Printf("  %-6s left out, it is not in bin/\n", library.transport)
			continue
		}
		for _, fabric := range []string{"auto", "tcp"} {
			on, err := namespaces.Build(namespaces.Options{Hosts: 2})
			if err != nil {
				return err
			}
			r, err := b.conduct(ctx, on, true, false, []string{"transport=" + library.transport, "opt.fabric=" + fabric,
				"connections=1", "request=1KiB", "response=1KiB"})
			if closed := on.Close(); err == nil {
				err = closed
			}
			if err != nil {
				return err
			}
			fmt.Printf("  %-6s %-5s %.2f s\n", library.transport, fabric, float64(r.Timeline.ReadyNs)/1e9)
		}
	}
	return nil
}
