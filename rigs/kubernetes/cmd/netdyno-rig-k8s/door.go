package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"netdyno/internal/run/rig/pods/talk"
)

// door lets commands in: a Unix socket in a directory of the user's alone. Nothing listens
// on a network.
type door struct {
	listener *net.UnixListener
	cluster  *cluster
	cancel   context.CancelFunc
	inside   sync.WaitGroup
}

func openDoor(ctx context.Context, path string, c *cluster) (*door, error) {
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		return nil, fmt.Errorf("listen for commands: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	d := &door{listener: l, cluster: c, cancel: cancel}
	go func() {
		for {
			caller, err := l.AcceptUnix()
			if err != nil {
				return // it was closed
			}
			d.inside.Go(func() { d.admit(ctx, caller) })
		}
	}()
	return d, nil
}

// close ends all commands and lets no more in.
func (d *door) close() {
	_ = d.listener.Close() // nothing is lost
	d.cancel()
	d.inside.Wait()
}

// admit carries out the command of one caller.
func (d *door) admit(ctx context.Context, caller *net.UnixConn) {
	defer func() { _ = caller.Close() }() // it has its answer, or is gone
	asked, files, err := receive(caller)
	defer func() {
		for _, f := range files {
			_ = f.Close() // nothing is buffered in it
		}
	}()
	left := talk.Left{}
	if err == nil {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() { // the caller says no more: what comes is its end
			_, _ = caller.Read(make([]byte, 1))
			cancel()
		}()
		left.Code, err = d.cluster.stream(ctx, command{pod: asked.Pod, argv: asked.Argv, in: files[0], out: files[1], said: files[2]})
		const killed, terminated = 128 + 9, 128 + 15
		if err != nil || left.Code == killed || left.Code == terminated {
			if why := d.cluster.lost(ctx, asked.Pod); why != "" {
				err = errors.New(why)
			}
		}
	}
	if err != nil {
		left.Said = err.Error()
		if left.Code == 0 {
			left.Code = 255
		}
	}
	text, err := json.Marshal(left)
	if err == nil {
		_, _ = caller.Write(text) // it may be gone
	}
}

// receive reads what a caller asks for, and takes its three files.
func receive(caller *net.UnixConn) (asked talk.Enter, files []*os.File, err error) {
	text, beside := make([]byte, talk.MaxEnter), make([]byte, unix.CmsgSpace(3*4))
	n, m, _, _, err := caller.ReadMsgUnix(text, beside)
	if err != nil {
		return asked, nil, err
	}
	messages, err := unix.ParseSocketControlMessage(beside[:m])
	if err != nil {
		return asked, nil, fmt.Errorf("take a command's files: %w", err)
	}
	for _, message := range messages {
		numbers, err := unix.ParseUnixRights(&message)
		if err != nil {
			return asked, files, fmt.Errorf("take a command's files: %w", err)
		}
		for _, number := range numbers {
			unix.CloseOnExec(number)
			_ = unix.SetNonblock(number, true) // so that closing ends a read; a regular file has no such mode
			files = append(files, os.NewFile(uintptr(number), "command"))
		}
	}
	if len(files) != 3 {
		return asked, files, fmt.Errorf("a command came with %d files, expected 3", len(files))
	}
	return asked, files, json.Unmarshal(text[:n], &asked)
}
