package lab_test

import (
	"bytes"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"netdyno/test/lab"
)

// allocate holds all nodes until the test ends, and returns how to prepare a step.
func allocate(t *testing.T, s *lab.Slurm) (step func(node string, argv ...string) *exec.Cmd, job string) {
	t.Helper()
	allocation := s.Command("salloc", "--no-shell", "-N3", "-J", "lab")
	if out, err := allocation.CombinedOutput(); err != nil {
		t.Fatalf("allocate: %v: %s", err, out)
	}
	job = output(t, s.Command("squeue", "--noheader", "--name=lab", "--format=%i"))
	t.Cleanup(func() { _ = s.Command("scancel", job).Run() }) // it may have ended
	return func(node string, argv ...string) *exec.Cmd {
		return s.Command(append([]string{"srun", "--jobid=" + job, "--overlap", "-N1", "-n1", "-w", node, "--unbuffered"}, argv...)...)
	}, job
}

func TestSlurm(t *testing.T) {
	l := lab.Hosts(t, 3)
	s := l.Slurm(t)
	step, job := allocate(t, s)

	t.Run("a step runs on its node", func(t *testing.T) {
		if got := output(t, step("node2", "hostname")); got != "node2" {
			t.Errorf("srun -w node2 hostname says %q, want node2", got)
		}
	})
	t.Run("a pipe through a step is 8-bit clean", func(t *testing.T) {
		sent := make([]byte, 1<<20)
		for i := range sent {
			sent[i] = byte(rand.Uint32())
		}
		cat := step("node3", "cat")
		cat.Stdin = bytes.NewReader(sent)
		if got, err := cat.Output(); err != nil || !bytes.Equal(got, sent) {
			t.Errorf("of %d bytes %d came back, %v, want the same", len(sent), len(got), err)
		}
	})
	t.Run("steps overlap", func(t *testing.T) { overlap(t, step) })
	t.Run("a killed slurmd comes back", func(t *testing.T) {
		before := s.Slurmd(1)
		s.KillSlurmd(1)
		if got := s.Slurmd(1); got != 0 {
			t.Errorf("the killed slurmd is process %d", got)
		}
		s.StartSlurmd(t, 1)
		if after := s.Slurmd(1); after == before || after == 0 {
			t.Errorf("the slurmd is process %d, before it was %d", after, before)
		}
		if got := output(t, step("node1", "hostname")); got != "node1" {
			t.Errorf("srun -w node1 hostname says %q, want node1", got)
		}
	})
	t.Run("a killed slurmstepd hangs its srun", func(t *testing.T) { hang(t, l, s, step("node2", "sleep", "601"), job) })
}

// overlap proves that two steps run at once: each waits for a word that is only
// given to it after the other has spoken.
func overlap(t *testing.T, step func(string, ...string) *exec.Cmd) {
	type talk struct {
		say  func() error
		hear func() string
	}
	var talks []talk
	for _, node := range []string{"node1", "node1"} {
		cat := step(node, "cat")
		stdin, err := cat.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cat.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cat.Start(); err != nil {
			t.Fatal(err)
		}
		stop := time.AfterFunc(soon, func() { _ = cat.Process.Kill() })
		t.Cleanup(func() {
			_ = stdin.Close()
			if err := cat.Wait(); err != nil {
				t.Errorf("a step of two: %v", err)
			}
			stop.Stop()
		})
		talks = append(talks, talk{
			say: func() error { _, err := stdin.Write([]byte("word")); return err },
			hear: func() string {
				heard := make([]byte, 16)
				n, _ := stdout.Read(heard) // nothing heard is not the word
				return string(heard[:n])
			},
		})
	}
	for range 2 {
		for i, each := range talks {
			if err := each.say(); err != nil {
				t.Fatalf("speak to step %d: %v", i, err)
			}
			if got := each.hear(); got != "word" {
				t.Errorf("step %d says %q, want word", i, got)
			}
		}
	}
}

func hang(t *testing.T, l *lab.Lab, s *lab.Slurm, srun *exec.Cmd, job string) {
	if err := srun.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = srun.Wait() // killed, or cancelled
		close(ended)
	}()
	until(t, "the step's task runs on node2", func() bool {
		for _, p := range l.Processes(t, 2) {
			if strings.HasSuffix(p.String(), "sleep 601") {
				return true
			}
		}
		return false
	})
	s.KillStepd(t, 2)
	select {
	case <-ended:
		t.Error("srun ended when its slurmstepd was killed, so that tests of what hangs would prove nothing")
	case <-time.After(time.Second):
	}
	if err := s.Command("scancel", job).Run(); err != nil {
		t.Error(err)
	}
	select {
	case <-ended:
	case <-time.After(2 * time.Second):
		if err := srun.Process.Kill(); err != nil {
			t.Error(err)
		}
		<-ended
	}
}
