package foreign_test

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// asking are the levels of a short trial of a load generator.
func asking(command string, args ...string) []string {
	return append([]string{
		"server=go-http1", "client=exec", "request=0B", "response=1KiB", "window=1s", "warmup=300ms",
		"opt.client.command=" + command,
	}, args...)
}

// A load generator is an arm: what it did in the window is what the server answered
// there, and its CPU time is metered.
func TestLoadGeneratorsAreArms(t *testing.T) {
	for program, command := range map[string]string{
		"wrk":    "wrk -t 1 -c {connections} -d {seconds}s http://{server}/",
		"h2load": "h2load --h1 -t 1 -c {connections} -D {seconds} http://{server}/",
		"hey":    "hey -c {connections} -z {seconds}s -q {rate_per_connection} http://{server}/",
	} {
		t.Run(program, func(t *testing.T) {
			need(t, []string{program}, "exec", "go-http1")
			args := asking(command)
			if program == "hey" {
				args = append(args, "rate=500")
			}
			server, client := alike(t, args...)
			served := server.Close.Reading.Counts.Exchanges - server.Open.Reading.Counts.Exchanges
			// The ends' windows begin and end apart by what a mark takes on a busy machine.
			if done := client.Result.Counts.Exchanges; done == 0 || served < done/2 || served > 2*done {
				t.Errorf("the client made %d exchanges, the server answered %d", done, served)
			}
			if client.Result.Own["exchanges"] < float64(client.Result.Counts.Exchanges) || !client.Ready.Foreign {
				t.Errorf("it says %v, its ready is %+v", client.Result.Own, client.Ready)
			}
			if used := client.Close.Meter.Process.CPUNs - client.Open.Meter.Process.CPUNs; used <= 0 {
				t.Errorf("it took %d ns of CPU time", used)
			}
		})
	}
}

func TestLoadGeneratorsThatCannot(t *testing.T) {
	need(t, []string{"wrk"}, "exec", "go-http1")
	const wrk = "wrk -t 1 -c {connections} -d {seconds}s http://{server}/"
	for _, c := range []struct {
		args []string
		want string
	}{
		{asking(wrk, "rate=100"), "rate=100 is not told to wrk: its command line lacks {rate}"},
		{asking("no-such-generator -c {connections} {server}", "opt.client.requests=json:n"), "no-such-generator"},
	} {
		if r := trial(t, c.args...); r.Outcome != record.Unsupported || r.Failure == nil || !strings.Contains(r.Failure.Text, c.want) {
			t.Errorf("%v is %s: %v, want %q", c.args, r.Outcome, r.Failure, c.want)
		}
	}
	failed(t, trial(t, asking(wrk, `opt.client.requests=regexp:(\d+) calls`)...), contract.Invalid, "matches nothing that was printed")
}
