package study

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"netdyno/internal/record"
)

func namesUpTo(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("node%d", i+1)
	}
	return names
}

// In a tournament every ordered pair meets once, nobody is in two pairs of a round,
// and a round has as many pairs as there can be.
func TestTournamentMeetsEveryPairOnce(t *testing.T) {
	for n := 2; n <= 33; n++ {
		met, rounds := map[pair]int{}, tournament(namesUpTo(n), rand.New(rand.NewPCG(uint64(n), 1)))
		if want := 2 * (n - 1 + n%2); len(rounds) != want {
			t.Errorf("%d hosts need %d rounds, expected %d: time must grow with hosts, not with pairs", n, len(rounds), want)
		}
		for i, round := range rounds {
			busy := map[string]bool{}
			for _, p := range round {
				if busy[p.client] || busy[p.server] || p.client == p.server {
					t.Fatalf("%d hosts, round %d: %v has a host twice", n, i, round)
				}
				busy[p.client], busy[p.server] = true, true
				met[p]++
			}
			if len(round) != n/2 {
				t.Errorf("%d hosts, round %d has %d pairs, expected %d", n, i, len(round), n/2)
			}
		}
		for p, times := range met {
			if times != 1 {
				t.Errorf("%d hosts: %v meet %d times", n, p, times)
			}
		}
		if len(met) != n*(n-1) {
			t.Errorf("%d hosts: %d ordered pairs met, expected %d", n, len(met), n*(n-1))
		}
	}
}

// plannedMesh is the plan of a mesh with two loads.
func plannedMesh(t *testing.T, hosts, blocks int) []record.Trial {
	t.Helper()
	s := &Study{
		Name: "m", Mesh: true, Blocks: blocks, Seed: 3,
		Hold:   []Setting{{Factor: "transport", Level: Level{Text: "go-net"}}},
		Sweeps: []Sweep{{Name: "bulk", Hold: []Setting{{Factor: "stream", Level: Level{Text: "up"}}}}, {Name: "latency"}},
	}
	if err := s.Complete(); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckCompared(); err != nil {
		t.Fatal(err)
	}
	s.Compare.Baseline = "go-net"
	on, err := s.OnHosts(namesUpTo(hosts))
	if err != nil {
		t.Fatal(err)
	}
	trials, _, err := on.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return trials
}

// A mesh's plan has every ordered pair under every load once in each block; those of
// a round stand together, have one load and no host in common.
func TestMeshPlanIsRounds(t *testing.T) {
	for _, hosts := range []int{4, 5} {
		const blocks = 3
		trials := plannedMesh(t, hosts, blocks)
		if want := blocks * 2 * hosts * (hosts - 1); len(trials) != want {
			t.Fatalf("%d hosts: %d trials, expected %d", hosts, len(trials), want)
		}
		seen, orders := map[string]bool{}, map[int][]string{}
		for i := 0; i < len(trials); {
			busy, first := map[string]bool{}, i
			for ; i < len(trials) && AtOnce(trials[first], trials[i]); i++ {
				one := trials[i]
				for _, host := range []string{one.Levels[ServerHost], one.Levels[ClientHost]} {
					if busy[host] {
						t.Errorf("%s: host %s is in two trials of its round", one.ID, host)
					}
					busy[host] = true
				}
				if one.Levels["stream"] != trials[first].Levels["stream"] {
					t.Errorf("%s: its round has several loads", one.ID)
				}
				key := fmt.Sprint(one.Block, one.Cell)
				if seen[key] {
					t.Errorf("%s: %s is planned twice", one.ID, key)
				}
				seen[key] = true
				orders[one.Block] = append(orders[one.Block], one.Cell)
			}
			if i == first {
				t.Fatalf("%s runs alone", trials[first].ID)
			}
		}
		if fmt.Sprint(orders[1]) == fmt.Sprint(orders[2]) {
			t.Error("two blocks have one order")
		}
	}
}

func TestNoMesh(t *testing.T) {
	hold := func(factor, level string) []Setting { return []Setting{{Factor: factor, Level: Level{Text: level}}} }
	vary := func(factor string, levels ...string) Varied {
		v := Varied{Factor: factor}
		for _, l := range levels {
			v.Levels = append(v.Levels, Level{Text: l})
		}
		return v
	}
	transport := hold("transport", "go-net")
	for name, s := range map[string]*Study{
		"one end held":  {Hold: append(hold(ServerHost, "a"), transport...)},
		"one end named": {Hold: transport, Vary: []Varied{vary(ServerHost, "a", "b")}},
		"other hosts":   {Hold: transport, Vary: []Varied{vary(ServerHost, "a", "b"), vary(ClientHost, "a", "c")}},
		"one host":      {Hold: transport, Vary: []Varied{vary(ServerHost, "a"), vary(ClientHost, "a")}},
		"two arms":      {Vary: []Varied{vary("transport", "go-net", "asio")}},
		"probes":        {Hold: transport, Probes: 3},
	} {
		s.Mesh, s.Blocks = true, 3
		if err := s.Complete(); err == nil {
			t.Errorf("%s is taken for a mesh", name)
		}
	}
}

// A mesh of many hosts measures the same ways in every block: as many for every host, by
// few rounds; and they join every host with every other over few steps.
func TestMeshOfManyHostsIsASample(t *testing.T) {
	t.Parallel()
	const hosts, blocks = 1024, 2
	trials := plannedMesh(t, hosts, blocks)
	if want := blocks * 2 * hosts * LeastPartners; len(trials) != want {
		t.Fatalf("%d trials, expected %d", len(trials), want)
	}
	rounds, first := map[int]bool{}, map[pair]int{}
	clients, servers := map[string]int{}, map[string]int{}
	for i, one := range trials {
		p := pair{one.Levels[ClientHost], one.Levels[ServerHost]}
		if one.Block == 1 {
			rounds[one.Round] = true
			first[p]++
			clients[p.client]++
			servers[p.server]++
		} else if first[p] == 0 {
			t.Fatalf("block %d measures %v, which the first does not", one.Block, p)
		}
		if i > 0 && AtOnce(trials[i-1], one) && trials[i-1].Levels["stream"] != one.Levels["stream"] {
			t.Fatalf("%s: its round has several loads", one.ID)
		}
	}
	if want := 2 * 2 * LeastPartners; len(rounds) != want {
		t.Errorf("%d rounds in a block, expected %d", len(rounds), want)
	}
	for host := range clients {
		if clients[host] != 2*LeastPartners || servers[host] != 2*LeastPartners {
			t.Fatalf("%s is client of %d trials of a block and server of %d, expected %d each", host, clients[host], servers[host], 2*LeastPartners)
		}
	}
	if steps := farthest(first, "node1"); steps > 4 {
		t.Errorf("from one host to the farthest are %d steps; the sample is a ring, in which hosts cannot be told from their neighbours", steps)
	}
}

// farthest is how many measured ways, one after the other, reach every host from one.
func farthest(ways map[pair]int, from string) (steps int) {
	near := map[string][]string{}
	for p := range ways {
		near[p.client] = append(near[p.client], p.server)
	}
	seen := map[string]bool{from: true}
	for front := []string{from}; ; steps++ {
		var next []string
		for _, host := range front {
			for _, other := range near[host] {
				if !seen[other] {
					seen[other] = true
					next = append(next, other)
				}
			}
		}
		if len(next) == 0 {
			return steps
		}
		front = next
	}
}

func TestPartnersOfAMesh(t *testing.T) {
	for _, c := range []struct{ hosts, want int }{{4, 0}, {128, 0}, {129, 127}, {256, 64}, {1024, 16}, {4096, 16}} {
		if got := partners(c.hosts); got != c.want {
			t.Errorf("of %d hosts: %d partners, expected %d", c.hosts, got, c.want)
		}
	}
}
