package main

import (
	"slices"
	"testing"
)

func TestPairs(t *testing.T) {
	got := pairs([]byte(`goos: linux
pkg: netdyno/internal/work/transport/gohttp1
BenchmarkClient/read=all-2         	    1000	     58000 ns/op	   4321 B/op	      12 allocs/op
BenchmarkClient/lonely-2           	    1000	     58000 ns/op	   1 B/op	      1 allocs/op
BenchmarkBareClient/read=all-2     	    1000	     57000 ns/op	 72.05 MB/s	   4300 B/op	      11 allocs/op
PASS
pkg: netdyno/internal/work/transport/gogrpc
BenchmarkBareClient-2     	    1000	     57000 ns/op	   8 B/op	      3 allocs/op
BenchmarkClient     	    1000	     57000 ns/op	   7 B/op	      2 allocs/op
BenchmarkOther-2     	    1000	     57000 ns/op	   7 B/op	      2 allocs/op
BenchmarkExchange/down_4MiB/ours-2     	    1000	     57000 ns/op	   70 B/op	      20 allocs/op
BenchmarkExchange/down_4MiB/bare-2     	    1000	     57000 ns/op	   71 B/op	      21 allocs/op
`))
	want := []pair{
		{"gohttp1/read=all", perExchange{"4321", "12"}, perExchange{"4300", "11"}},
		{"gogrpc", perExchange{"7", "2"}, perExchange{"8", "3"}},
		{"gogrpc/down_4MiB", perExchange{"70", "20"}, perExchange{"71", "21"}},
	}
	if !slices.Equal(got, want) {
		t.Errorf("pairs are %+v, want %+v", got, want)
	}
}

// What ucx_perftest prints with -f -v, as Debian's version 1.13.1 does.
func TestPerftestRate(t *testing.T) {
	const names = "iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n"
	rate, err := perftestRate(names + "20000,5.418,5.554,5.554,11253.54,11000.50,180057,180057\n")
	if err != nil || rate != 11000.5*(1<<20) {
		t.Errorf("the rate is %v (%v), want the overall one", rate, err)
	}
	for _, odd := range []string{"", names, names + "20000,5.4\n", names + "1,2,3,4,5,none,7,8\n", names + "1,2,3,4,5,0,7,8\n", "a,b\n1,2\n"} {
		if rate, err := perftestRate(odd); err == nil {
			t.Errorf("%q has a rate, %v", odd, rate)
		}
	}
}

// What osu_bw of OSU's micro-benchmarks 7 prints.
func TestOSUBandwidth(t *testing.T) {
	const text = "# OSU MPI Bandwidth Test v7.4\n# Datatype: MPI_CHAR.\n# Size      Bandwidth (MB/s)\n8                      73.12\n"
	if rate, err := osuBandwidth(text, 8); err != nil || rate != 73.12e6 {
		t.Errorf("the rate is %v (%v), want 73.12 MB/s", rate, err)
	}
	for _, odd := range []string{"", text[:60], "8 none\n", "8\n", "8 0\n", "16 3.1\n"} {
		if rate, err := osuBandwidth(odd, 8); err == nil {
			t.Errorf("%q has a rate, %v", odd, rate)
		}
	}
}
