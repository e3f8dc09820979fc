package check

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"netdyno/test/programs"
)

func TestMain(m *testing.M) {
	if fault := os.Getenv(faultVariable); fault != "" {
		playFake(fault)
		os.Exit(0)
	}
	// Conversations wait far more than they work, whatever the number of CPUs.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

var example = filepath.Join("..", "..", "..", "contract", "example", "worker.py")

// stretch of the tests: the machine that runs them has other work to do, and
// whether a worker conforms must not depend on that.
const stretch = 10

func fakeEnv(fault string) []string { return []string{faultVariable + "=" + fault} }

func conforms(t *testing.T, argv []string, opt Options, skips []string) {
	t.Helper()
	outcomes, err := Run(t.Context(), argv, opt)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(workerRules) + len(rules()); len(outcomes) != want {
		t.Errorf("%d outcomes, expected %d", len(outcomes), want)
	}
	for _, r := range slices.Concat(drawRules, mixRules) { // of features that neither has
		skips = append(skips, r.name)
	}
	for _, o := range outcomes {
		switch {
		case o.Skipped != (slices.Contains(skips, o.Case) || strings.HasPrefix(o.Case, "streams, ")):
			t.Errorf("%s: skipped %v: %s", o.Case, o.Skipped, o.Text)
		case !o.Skipped && !o.Pass:
			t.Errorf("%s: %s", o.Case, o.Text)
		}
	}
}

// The page is enough: a worker written from it, in another language, conforms.
func TestExampleWorkerConforms(t *testing.T) {
	programs.Whole(t)
	t.Parallel()
	conforms(t, []string{example}, Options{Stretch: stretch}, []string{"an option out of range"})
}

// Without this, the faults below would prove nothing.
func TestHonestFakeConforms(t *testing.T) {
	t.Parallel()
	conforms(t, []string{os.Args[0]}, Options{Env: fakeEnv(honest), Stretch: stretch},
		[]string{"the peer vanishes", "two listeners", "a connection is refused", "a port in use", "a stranger connects"})
}

func TestEachFaultFailsItsCase(t *testing.T) {
	t.Parallel()
	for _, f := range []struct {
		fault, rule string
		says        []string // the text teaches: what came, what the section says
	}{
		{"silent", "hello comes at once", []string{"hello did not come within 20s", "section hello"}},
		{"another version", "contract version", []string{"hello.contract is 2, expected 1"}},
		{"default outside its range", "self-description", []string{"option size: default 11 lies outside"}},
		{"fatal remarks", "a line that is no message", []string{"what a lovely day", "expected fatal false"}},
		{"ignores end of input", "end of input, born", []string{"stdin was closed after nothing", "still runs", "within 2 s, in any state"}},
		{"ignores end of input", "end of input, running", []string{`after {"start":{}}`, "still runs"}},
		{"crashes", "ticks", []string{`after {"start":{}}`, "it ended with status 7", "segmentation imagined"}},
		{"floods", "end of input, idle", []string{"flood: more than 10000 messages"}},
		{"prints noise", "unknown fields", []string{"listening on port 4000", "belongs on stderr", "section Lines"}},
		{"verifies nothing", "the counts agree", []string{"4 open and 0 verified"}},
		{"takes any option", "an unknown option", []string{"came {\"ready\"", "expected error", "say the nearest name"}},
		{"takes any value", "an option out of range", []string{"option size", "expected error"}},
		{"has no ticks", "ticks", []string{"came 0 ticks"}},
		{"answers marks late", "marks", []string{"mark did not come within 4s", "a thread that the load cannot hold up"}},
		{"resets its sums", "marks", []string{"counts.exchanges fell from"}},
		{"lies about bytes", "the counts agree", []string{"bytes received, expected"}},
		{"loses a sample", "the counts agree", []string{"expected exchanges + drained"}},
		{"halves its window", "the counts agree", []string{"by result the window lasted", "as the marks were that far apart"}},
		{"has a slow clock", "the counts agree", []string{"by the readings at its edges the window lasted"}},
		{"counts below zero", "the counts agree", []string{"result.unfinished is -3, expected 0 or more"}},
		{"invents samples", "the counts agree", []string{"histogram response holds", "samples are never invented"}},
		{"histogram of its own", "the counts agree", []string{"read histogram service", "section Histograms"}},
		{"goes on after the closing mark", "the counts agree", []string{"begins nothing after the closing mark"}},
		{"never results", "the counts agree", []string{`after {"stop":{}}, result did not come within 6s`}},
		{"sends two results", "a fixed amount", []string{"sent 2 results"}},
		{"half the rate", "open loop, constant", []string{"expected 200 within 20 %"}},
	} {
		t.Run(f.fault+", "+f.rule, func(t *testing.T) {
			t.Parallel()
			o := judgeOne(t, f.fault, f.rule)
			if o.Pass || o.Skipped {
				t.Fatalf("passed: %+v", o)
			}
			for _, want := range append(f.says, "CONTRACT.md, section "+o.Section) {
				if !strings.Contains(o.Text, want) {
					t.Errorf("the failure does not say %q: %s", want, o.Text)
				}
			}
		})
	}
}

// slow faults are those that only the passing of time shows.
var slow = []string{"silent", "ignores end of input", "answers marks late", "never results"}

// judgeOne runs one case against the fake with a fault.
func judgeOne(t *testing.T, fault, name string) Outcome {
	t.Helper()
	s := &subject{ctx: t.Context(), argv: []string{os.Args[0]}, env: fakeEnv(fault), stretch: stretch}
	if slices.Contains(slow, fault) {
		s.stretch = 2
	}
	for _, r := range workerRules {
		if r.name == name {
			return s.judge(r)
		}
	}
	s.transport = (&fake{}).hello().Transports[0]
	for _, r := range transportRules {
		if r.name == name {
			return s.judge(r)
		}
	}
	t.Fatalf("there is no case %q", name)
	return Outcome{}
}

// What fails while more wants to run than there are CPUs is asked again.
func TestACaseIsJudgedAgainOnABusyMachine(t *testing.T) {
	if _, err := os.Stat("/proc/pressure/cpu"); err != nil {
		t.Skip("the kernel keeps no account of what waits for a CPU")
	}
	n := 2 * runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	judged := 0
	o := (&subject{ctx: t.Context()}).judgeBusy(rule{run: func(*subject) error {
		if judged++; judged > 1 {
			return nil
		}
		var busy sync.WaitGroup
		for end := time.Now().Add(300 * time.Millisecond); n > 0; n-- {
			busy.Go(func() {
				for time.Now().Before(end) {
				}
			})
		}
		busy.Wait()
		return errors.New("nothing ran for a while")
	}})
	if !o.Pass || judged != 2 {
		t.Errorf("judged %d times: %+v", judged, o)
	}
}

func TestSilentWorkerIsGivenUpAtOnce(t *testing.T) {
	t.Parallel()
	outcomes, err := Run(t.Context(), []string{os.Args[0]}, Options{Env: fakeEnv("silent")})
	if err != nil || len(outcomes) != 1 || outcomes[0].Pass {
		t.Fatalf("outcomes %+v, error %v; expected one failure", outcomes, err)
	}
}

func TestRunSaysWhatItCannotCheck(t *testing.T) {
	if _, err := Run(t.Context(), []string{"/no/such/worker"}, Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, expected that the worker does not exist", err)
	}
	_, err := Run(t.Context(), []string{os.Args[0]}, Options{Env: fakeEnv(honest), Transports: []string{"fak"}})
	if err == nil || !strings.Contains(err.Error(), `"fak": the worker offers fake`) {
		t.Errorf("error %v, expected the transports on offer", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, []string{os.Args[0]}, Options{Env: fakeEnv(honest)}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, expected the context's", err)
	}
}

// A failure sends its reader to a section, which must be there.
func TestRulesNameSectionsOfThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "contract", "CONTRACT.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range slices.Concat(workerRules, rules()) {
		if !strings.Contains(string(page), "\n## "+r.section+"\n") {
			t.Errorf("case %q names the section %q, which CONTRACT.md does not have", r.name, r.section)
		}
		if r.says == "" || r.fix == "" {
			t.Errorf("case %q does not teach", r.name)
		}
	}
}
