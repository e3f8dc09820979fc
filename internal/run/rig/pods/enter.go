package pods

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"

	"golang.org/x/sys/unix"

	"netdyno/internal/run/rig/pods/talk"
)

// Standard are the descriptors of this process's own stdin, stdout and stderr.
var Standard = [3]int{0, 1, 2}

// Enter runs a command in a pod, with three descriptors of this process as its stdin, stdout
// and stderr, and returns its status. The command ends when this process does.
func Enter(ctx context.Context, socket, pod string, argv []string, files [3]int) (code int, err error) {
	const unreached = 255
	c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: socket, Net: "unixpacket"})
	if err != nil {
		return unreached, fmt.Errorf("reach pod %s: the program that holds it (%s) has ended: %w", pod, talk.Program, err)
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() }) // which ends the command
	defer stop()
	asked, err := json.Marshal(talk.Enter{Pod: pod, Argv: argv})
	if err != nil {
		return unreached, err
	}
	if len(asked) > talk.MaxEnter {
		return unreached, fmt.Errorf("run a command in pod %s: its arguments have %d bytes, at most %d go through", pod, len(asked), talk.MaxEnter)
	}
	if _, _, err := c.WriteMsgUnix(asked, unix.UnixRights(files[:]...), nil); err != nil {
		return unreached, fmt.Errorf("run a command in pod %s: %w", pod, err)
	}
	const most = 64 << 10
	answer := make([]byte, most)
	n, err := c.Read(answer)
	if err != nil || n == 0 {
		if errors.Is(err, io.EOF) || n == 0 && ctx.Err() == nil {
			err = fmt.Errorf("the program that holds it (%s) has ended", talk.Program)
		}
		return unreached, fmt.Errorf("run a command in pod %s: %w", pod, err)
	}
	var left talk.Left
	if err := json.Unmarshal(answer[:n], &left); err != nil {
		return unreached, fmt.Errorf("run a command in pod %s: %w", pod, err)
	}
	if left.Said != "" {
		err = errors.New(left.Said)
	}
	return left.Code, err
}
