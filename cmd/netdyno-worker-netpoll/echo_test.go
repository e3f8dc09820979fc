package main

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/gonet"
	"netdyno/internal/work/worker/workertest"
)

// everyone is this worker's transport and one of another library to meet.
var everyone = append([]load.Transport{gonet.Transport{}}, transports...)

// A trial is between two ends of the wire.
type trial = workertest.Ends

// The counts must agree with the library at either end and at both.
func TestCountsOfBothEndsAgree(t *testing.T) {
	for _, ends := range [][2]string{{"netpoll", "netpoll"}, {"netpoll", "go-net"}, {"go-net", "netpoll"}} {
		for _, size := range []int64{1, 100, 3 << 20} {
			for _, inFlight := range []int{1, 4} {
				t.Run(fmt.Sprintf("%s/%s/%d/%d", ends[0], ends[1], size, inFlight), func(t *testing.T) {
					t.Parallel()
					p := trial{Of: ends[0], By: ends[1], Exchange: workertest.Blocks(size, size), Load: contract.Load{Connections: 3, InFlight: inFlight}}
					p.Amount(t, everyone, max(4, min(100, 1<<20/size)))
				})
			}
		}
		for name, l := range workertest.Loads() {
			if !l.Fresh { // which neither has
				t.Run(fmt.Sprintf("%s/%s/%s", ends[0], ends[1], name), func(t *testing.T) {
					t.Parallel()
					trial{Of: ends[0], By: ends[1], Exchange: workertest.Blocks(100, 100), Load: l}.Drains(t, everyone)
				})
			}
		}
	}
}

// What a connection brought stays in the account when it has gone.
func TestTheAccountOutlivesItsConnections(t *testing.T) {
	s, c := trial{Of: "netpoll", By: "go-net", Exchange: workertest.Blocks(100, 100), Load: contract.Load{Connections: 7}}.Connect(t, everyone)
	c.End()
	var counts contract.Counts
	for deadline := time.Now().Add(workertest.Timeout); ; time.Sleep(time.Millisecond) {
		if counts = s.Mark(1, false).Counts; counts.Connections == 0 || time.Now().After(deadline) {
			break
		}
	}
	if counts.Connections != 0 || counts.ReceivedBytes != 700 || counts.SentBytes != 700 {
		t.Errorf("counts %+v, want no connection and 700 bytes each way", counts)
	}
}

func TestALostServerIsNotDialledAgain(t *testing.T) {
	for _, inFlight := range []int{1, 3} {
		trial{Exchange: workertest.Blocks(100, 100), Load: contract.Load{InFlight: inFlight}}.DiesWithItsServer(t, transports)
	}
}

func TestPollersAreEffective(t *testing.T) {
	setup := contract.Setup{
		Transport: "netpoll", Role: contract.Server, Listen: "127.0.0.1:0",
		Exchange: contract.Exchange{UpBytes: 64, DownBytes: 64}, Options: map[string]any{"pollers": 3.0},
	}
	if ready := workertest.Start(t, transports...).Setup(setup); fmt.Sprint(ready.Options["pollers"]) != "3" {
		t.Errorf("ready says %v, want 3 pollers", ready.Options)
	}
}

func TestAServerAdmitsItsClients(t *testing.T) {
	trial{Exchange: workertest.Blocks(64, 64)}.AdmitsItsOwn(t, transports)
}

// A peer that changes what it echoes must not become ready.
func TestADifferentEchoIsFound(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		b := make([]byte, 64)
		n, _ := conn.Read(b)
		b[0] ^= 1
		_, _ = conn.Write(b[:n])
		_, _ = conn.Read(b) // until the client has seen enough
	}()
	client := workertest.Start(t, transports...)
	setup := contract.Setup{
		Transport: "netpoll", Role: contract.Client, Peers: []string{l.Addr().String()},
		Exchange: contract.Exchange{UpBytes: 64, DownBytes: 64}, Load: contract.Load{Connections: 1},
	}
	client.Send(contract.Message{Setup: &setup})
	if m := client.Expect("error"); m.Error.Kind != contract.Invalid || !strings.Contains(m.Error.Text, "connection 0") {
		t.Errorf("error %+v, want one of kind invalid that names the connection", m.Error)
	}
}
