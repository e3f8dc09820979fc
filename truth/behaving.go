package main

import (
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// behaviour says of a server's nth request, which comes so long after the server began anew,
// how long it is held and with which status it is answered. It is asked in order, by one at
// a time.
type behaviour func(n int, at time.Duration) (held time.Duration, status int)

// always answers with 200.
func always(held func(n int, at time.Duration) time.Duration) behaviour {
	return func(n int, at time.Duration) (time.Duration, int) { return held(n, at), http.StatusOK }
}

func steady(service time.Duration) behaviour {
	return always(func(int, time.Duration) time.Duration { return service })
}

// pausing takes nothing up at the end of each period.
func pausing(service, pause, period time.Duration) behaviour {
	return always(func(_ int, at time.Duration) time.Duration {
		if left := period - at%period; left <= pause {
			return left + service
		}
		return service
	})
}

// bimodal takes rare for each kth request.
func bimodal(service, rare time.Duration, k int) behaviour {
	return always(func(n int, _ time.Duration) time.Duration {
		if n%k == k-1 {
			return rare
		}
		return service
	})
}

// warming takes cold for its first requests.
func warming(service, cold time.Duration, first int) behaviour {
	return always(func(n int, _ time.Duration) time.Duration {
		if n < first {
			return cold
		}
		return service
	})
}

// heavyTailed takes times of a Pareto law, of which each thousand requests have every
// thousandth quantile once, in an order drawn by lot: any thousand have the law's percentiles.
func heavyTailed(least time.Duration, alpha float64) behaviour {
	order := rand.New(rand.NewPCG(1, 2)).Perm(1000)
	return always(func(n int, _ time.Duration) time.Duration {
		beyond := (float64(order[n%len(order)]) + 0.5) / float64(len(order))
		return time.Duration(float64(least) * math.Pow(beyond, -1/alpha))
	})
}

// pool serves so many requests at a time, in the order of their coming.
func pool(service time.Duration, servers int) behaviour {
	free := make([]time.Duration, servers)
	return always(func(_ int, at time.Duration) time.Duration {
		next := slices.Index(free, slices.Min(free))
		free[next] = max(free[next], at) + service
		return free[next] - at
	})
}

// quota serves some requests at once, and from then on perS a second: a request waits for
// its place, or is refused where none is left; of places that nobody took it keeps ten.
func quota(service time.Duration, perS float64, saved int, refuses bool) behaviour {
	every, next := time.Duration(float64(time.Second)/perS), time.Duration(0)
	return func(n int, at time.Duration) (time.Duration, int) {
		if n < saved {
			return service, http.StatusOK
		}
		if refuses {
			if next = max(next, at-10*every); next > at {
				return service, http.StatusTooManyRequests
			}
			next += every
			return service, http.StatusOK
		}
		next = max(next, at) + every
		return next - every - at + service, http.StatusOK
	}
}

// behaving is a server of this process's. Its URL's path / behaves.
type behaving struct {
	URL  string
	anew func() behaviour

	mu    sync.Mutex
	now   behaviour
	began time.Time
	n     int // requests since
}

func newBehaving(anew func() behaviour) (*behaving, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &behaving{URL: "http://" + l.Addr().String() + "/", anew: anew}
	b.begin()
	server := &http.Server{Handler: b, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }() // as long as this process lives: clients would see its end
	return b, nil
}

// begin lets the server begin anew, and returns how many requests it has had since it last did.
func (b *behaving) begin() (had int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	had, b.n, b.began, b.now = b.n, 0, time.Now(), b.anew()
	return had
}

func (b *behaving) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	b.mu.Lock()
	came := time.Now()
	held, status := b.now(b.n, came.Sub(b.began))
	b.n++
	b.mu.Unlock()
	time.Sleep(time.Until(came.Add(held)))
	w.WriteHeader(status)
	_, _ = w.Write([]byte("hello")) // a client that is gone needs none
}
