package compare

import "testing"

// Beside others, arms that alternated are judged on what a request costs, and on rates, means
// and medians where the kernel divided the CPUs among as many of their threads.
func TestArmsThatOthersMetAlike(t *testing.T) {
	turns := func(threads float64) Beside {
		return Beside{name: "a", others: 0.6, waited: 0.5, alternated: true, threads: threads}
	}
	apart := Beside{name: "a", others: 0.6, waited: 0.5}
	for _, c := range []struct {
		metric    string
		arm, base Beside
		judged    bool
	}{
		{"server.cpu_us_per_exchange", turns(1), turns(4), true},
		{"server.cpu_us_per_exchange", apart, apart, false},
		{"exchanges_per_s", turns(1), turns(1.1), true},
		{"response_p50_us", turns(2), turns(2.3), true},
		{"response_p99_us", turns(1), turns(1), false},
		{"exchanges_per_s", turns(1), turns(2), false},
		{"exchanges_per_s", turns(0), turns(0), false}, // not known
		{"response_p99_us", turns(1), turns(2), false},
		{"exchanges_per_s", apart, apart, false},
	} {
		if why := RefuseBeside(&Comparison{Metric: c.metric, Low: 0.9, High: 1.1}, c.arm, c.base); (why == "") != c.judged {
			t.Errorf("%+v: refused for %q", c, why)
		}
	}
}
