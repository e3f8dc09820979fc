package meter

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/run/cpuset"
)

// The test binary plays the meter and every kind of worker, each in a process
// of its own: `TEST meter …` and `TEST worker NAME …`.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "meter" {
		os.Exit(playMeter(os.Args[2:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "worker" {
		actors[os.Args[2]](os.Args[3:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// playMeter is the command line: deadline, memory, CPUs, then the worker.
func playMeter(args []string) int {
	deadline, err1 := time.ParseDuration(args[0])
	memory, err2 := strconv.ParseInt(args[1], 10, 64)
	cpus, err3 := cpuset.Parse(args[2])
	if err1 != nil || err2 != nil || err3 != nil {
		panic(fmt.Sprint(err1, err2, err3))
	}
	code, err := Run(context.Background(), Options{
		Argv: args[3:], Deadline: deadline, MemoryBytes: memory, CPUs: cpus,
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return code
}

var actors = map[string]func(args []string){
	"honest":  honest,
	"busy":    busy,
	"forker":  forker,
	"hog":     hog,
	"orphans": orphanMaker,
	"stubborn": func([]string) { // takes no notice of anything
		signal.Ignore(unix.SIGTERM, unix.SIGINT)
		fmt.Println(`{"hello":{"contract":1}}`)
		time.Sleep(time.Hour)
	},
	"sleeper": func([]string) {
		fmt.Println(`{"ready":{}}`)
		time.Sleep(time.Hour)
	},
	"silent": func([]string) { _, _ = bufio.NewReader(os.Stdin).ReadBytes(0) },
	"says": func(args []string) { // prints its arguments, then lives until EOF
		for _, text := range args {
			fmt.Print(text)
		}
		_, _ = bufio.NewReader(os.Stdin).ReadBytes(0)
	},
	"flood": func([]string) {
		for {
			fmt.Println(`{"tick":{"at_ns":1,"exchanges":1,"received_bytes":` + strings.Repeat("1", 15) + `}}`)
		}
	},
	"long": func([]string) {
		chunk := strings.Repeat("x", 64<<10)
		for {
			fmt.Print(chunk)
		}
	},
	"code": func(args []string) {
		code, _ := strconv.Atoi(args[0])
		os.Exit(code)
	},
	"suicide": func([]string) { _ = unix.Kill(os.Getpid(), unix.SIGKILL); time.Sleep(time.Hour) },
	"stderr":  func([]string) { fmt.Fprint(os.Stderr, "free text\n{not json\n") },
}

// honest answers marks with a reading and stop with a result, and carries a
// field that the contract does not know.
func honest([]string) {
	fmt.Println(`{"hello":{"contract":1,"worker":"honest","version":"1","transports":[]}}`)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		line := in.Text()
		switch {
		case strings.HasPrefix(line, `{"setup"`):
			fmt.Println(`{"ready":{"addresses":["127.0.0.1:1"],"colour":"green"}}`)
		case strings.HasPrefix(line, `{"mark"`):
			fmt.Println(strings.TrimSuffix(line, "}}") + `,"reading":{"at_ns":1,"cpu_ns":2,"counts":{"exchanges":3,"sent_bytes":4,"received_bytes":5}},"later":[1,{"x":"}"}]}}`)
		case strings.HasPrefix(line, `{"stop"`):
			fmt.Println(`{"result":{"from_ns":1,"to_ns":2,"counts":{"exchanges":3,"sent_bytes":4,"received_bytes":5}}}`)
		}
	}
}

// burn uses d of CPU time.
func burn(d time.Duration) {
	for end := usedCPU() + int64(d); usedCPU() < end; {
	}
}

// usedCPU is this process's own account.
func usedCPU() int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// busy answers each mark, after some work, with its own account as cpu_ns.
func busy([]string) {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		burn(300 * time.Millisecond)
		fmt.Printf(`{"mark":{"id":1,"reading":{"at_ns":1,"cpu_ns":%d,"counts":{}}}}`+"\n", usedCPU())
	}
}

// forker works in a child that it waits for, then in a child that lives on,
// and answers a mark with the sum of all accounts.
func forker(args []string) {
	if len(args) > 0 && args[0] == "child" {
		burn(400 * time.Millisecond)
		fmt.Println(usedCPU())
		if len(args) > 1 { // live on
			_, _ = bufio.NewReader(os.Stdin).ReadBytes(0)
		}
		return
	}
	waited := again("forker", "child")
	waited.Stdout = nil
	if err := waited.Run(); err != nil {
		panic(err)
	}
	sum := int64(waited.ProcessState.UserTime() + waited.ProcessState.SystemTime())

	living := again("forker", "child", "on")
	living.Stdout = nil
	in, _ := living.StdinPipe()
	out, _ := living.StdoutPipe()
	if err := living.Start(); err != nil {
		panic(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	child, _ := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	fmt.Printf(`{"mark":{"id":1,"reading":{"at_ns":1,"cpu_ns":%d,"counts":{}}}}`+"\n", sum+child+usedCPU())
	_, _ = bufio.NewReader(os.Stdin).ReadBytes(0)
	in.Close()
	_ = living.Wait()
}

func hog([]string) {
	fmt.Println(`{"hello":{"contract":1}}`)
	var kept [][]byte
	for range 1000 {
		block := make([]byte, 8<<20)
		for i := 0; i < len(block); i += 4096 {
			block[i] = 1
		}
		kept = append(kept, block)
		time.Sleep(5 * time.Millisecond)
	}
	_ = kept
}

// orphanMaker starts a child that starts a grandchild in a session of its own,
// deaf to signals, which holds the stdout; the child ends at once. The worker
// prints the grandchild's pid in an error message and goes as told.
func orphanMaker(args []string) {
	switch args[0] {
	case "middle":
		c := again("orphans", "lost")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := c.Start(); err != nil {
			panic(err)
		}
		fmt.Printf(`{"error":{"kind":"bug","text":"%d"}}`+"\n", c.Process.Pid)
	case "lost":
		signal.Ignore(unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
		burn(50 * time.Millisecond)
		time.Sleep(time.Hour)
	default:
		if err := again("orphans", "middle").Run(); err != nil {
			panic(err)
		}
		if args[0] == "stay" {
			fmt.Println(`{"ready":{}}`)
			time.Sleep(time.Hour)
		}
		if args[0] == "code" {
			os.Exit(7)
		}
	}
}

// again is this binary as another worker on the same stdout and stderr.
func again(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], append([]string{"worker"}, args...)...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c
}
