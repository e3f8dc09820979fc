package containers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"netdyno/internal/run/rig"
)

// clean waits until its stdin ends, which it does with this process too, and removes
// containers and image: a container whose command was killed in the middle of starting,
// or that its runtime has not removed, is no longer anybody's. What is not there is
// not missed.
const clean = `trap '' HUP INT TERM PIPE
cat >/dev/null
program=$1 image=$2
shift 2
for name; do
  "$program" kill "$name"
  "$program" rm -f "$name"
done >/dev/null 2>&1
"$program" rmi "$image" >/dev/null 2>&1
for name; do
  if "$program" container inspect "$name" >/dev/null 2>&1; then echo "container $name"; fi
done
if "$program" image inspect "$image" >/dev/null 2>&1; then echo "image $image"; fi`

// remover removes what a rig made, at the end of the rig or of this process. No signal
// that is meant for this process ends it.
type remover struct {
	command *exec.Cmd
	hold    *os.File // its stdin, as long as anybody has this end of it
	left    strings.Builder
	said    rig.Tail
}

func startRemover(program, image string, names []string) (*remover, error) {
	r := &remover{command: exec.Command("sh", append([]string{"-c", clean, "sh", program, image}, names...)...)}
	r.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.command.Stdout, r.command.Stderr = &r.left, &r.said
	r.command.WaitDelay = time.Second
	theirs, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r.command.Stdin, r.hold = theirs, hold
	err = r.command.Start()
	_ = theirs.Close() // nothing is buffered in it
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start what removes the containers: %w", err), hold.Close())
	}
	return r, nil
}

// remove removes everything, and returns what is left of it.
func (r *remover) remove() error {
	_ = r.hold.Close() // it may have been killed
	kill := time.AfterFunc(closeTimeout, func() { _ = syscall.Kill(-r.command.Process.Pid, syscall.SIGKILL) })
	err := r.command.Wait()
	kill.Stop()
	if left := strings.Fields(strings.ReplaceAll(r.left.String(), "\n", ", ")); len(left) > 0 {
		err = errors.Join(err, errors.New("still there: "+strings.TrimSuffix(strings.Join(left, " "), ",")))
	}
	if err != nil {
		return fmt.Errorf("remove the containers: %w %s", err, r.said.String())
	}
	return nil
}
