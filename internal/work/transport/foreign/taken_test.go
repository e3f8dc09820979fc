package foreign_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/transport/foreign"
	"netdyno/internal/work/worker/workertest"
)

// controlAddress is the variable that makes the test's binary a server. The server sends
// the port that it was given to whoever listens at this address, waits for an answer, and
// only then binds the port.
const controlAddress = "FOREIGN_CONTROL"

func TestMain(m *testing.M) {
	if control := os.Getenv(controlAddress); control != "" {
		if err := serve(control, os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		return
	}
	os.Exit(m.Run())
}

func serve(control, port, whenTaken string) error {
	c, err := net.Dial("tcp", control)
	if err != nil {
		return err
	}
	fmt.Fprintln(c, port)
	if _, err := bufio.NewReader(c).ReadString('\n'); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil && whenTaken == "stays" {
		fmt.Fprintln(os.Stderr, err)
		_, err = io.Copy(io.Discard, c) // until the test ends
		return err
	}
	if err != nil {
		return err
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go func() { _, _ = io.Copy(conn, conn) }()
	}
}

// thief answers the servers that ask, and takes the ports of the first so many for
// itself. It returns where it can be asked.
func thief(t *testing.T, ports int, take func(port string) (io.Closer, error)) string {
	t.Helper()
	control, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = control.Close() })
	go func() {
		for n := 0; ; n++ {
			c, err := control.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			port, err := bufio.NewReader(c).ReadString('\n')
			if err == nil && n < ports {
				var taken io.Closer
				if taken, err = take(strings.TrimSpace(port)); err == nil {
					t.Cleanup(func() { _ = taken.Close() })
				}
			}
			if err != nil {
				t.Errorf("take port %q: %v", port, err)
			}
			fmt.Fprintln(c, "go on")
		}
	}()
	return control.Addr().String()
}

func listens(port string) (io.Closer, error) { return net.Listen("tcp", "127.0.0.1:"+port) }

// connects makes a connection whose own end has the port: nobody listens there.
func connects(port string) (io.Closer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	from, err := net.ResolveTCPAddr("tcp", "127.0.0.1:"+port)
	if err != nil {
		return nil, err
	}
	return (&net.Dialer{LocalAddr: from, Timeout: 5 * time.Second}).Dial("tcp", l.Addr().String())
}

// A port that another program takes between its choice and its use is not taken for the
// server's: another port is chosen.
func TestATakenPortIsNotTheServers(t *testing.T) {
	for _, c := range []struct {
		take      func(string) (io.Closer, error)
		whenTaken string
	}{{listens, "stays"}, {listens, "ends"}, {connects, "ends"}} {
		t.Setenv(controlAddress, thief(t, 2, c.take))
		b := workertest.Start(t, foreign.Transport{})
		ready := b.Setup(execSetup(os.Args[0] + " {port} " + c.whenTaken))
		conn, err := net.Dial("tcp", ready.Addresses[0])
		if err != nil {
			t.Fatal(err)
		}
		echoed := make([]byte, 5)
		if _, err = conn.Write([]byte("hello")); err == nil {
			_, err = io.ReadFull(conn, echoed)
		}
		if err != nil || string(echoed) != "hello" || ready.Options["port"] == "0" {
			t.Errorf("%s: %q, %v from %v", c.whenTaken, echoed, err, ready)
		}
		_ = conn.Close()
		b.Send(contract.Message{Stop: &contract.Stop{}})
	}
}

func TestAPortThatIsAlwaysTaken(t *testing.T) {
	t.Setenv(controlAddress, thief(t, 100, listens))
	for _, fixed := range []bool{false, true} {
		setup := execSetup(os.Args[0] + " {port} stays")
		if fixed {
			free, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			setup.Options["port"] = int64(free.Addr().(*net.TCPAddr).Port)
			_ = free.Close()
		}
		b := workertest.Start(t, foreign.Transport{})
		b.Send(contract.Message{Setup: &setup})
		got := b.Expect("error").Error
		if got.Kind != contract.SetupFailed || !strings.Contains(got.Text, "between its choice and its use") || !strings.Contains(got.Text, fmt.Sprintf("process %d", os.Getpid())) {
			t.Errorf("fixed %v: %+v", fixed, got)
		}
	}
}
