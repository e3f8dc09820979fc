package meter

import (
	"errors"
	"fmt"
	"sync"

	"netdyno/internal/contract"
	"netdyno/internal/each"
	"netdyno/internal/udpinfo"
)

// datagrams keeps the account of UDP, of a worker whose transport is over it: the
// worker's hello says which transports are, and the setup says which transport is
// used.
type datagrams struct {
	mu    sync.Mutex // the setup passes in one goroutine, all else in another
	over  map[string]bool
	asked bool
	many  bool // more sockets than are looked at, or new ones for every exchange

	// The rest is of the goroutine that carries messages up.
	mine owned
}

// hello learns which transports are over UDP. What is wrong with a hello is the
// bench's to say.
func (d *datagrams) hello(line []byte) {
	m, err := contract.Parse(line)
	if err != nil || m.Hello == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = map[string]bool{}
	for _, t := range m.Hello.Transports {
		d.over[t.Name] = t.UDP
	}
}

// setUp learns from the command whether there is anything to account for.
func (d *datagrams) setUp(s *contract.Setup) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = d.over[s.Transport]
	d.many = s.Load.Fresh || s.Role == contract.Client && s.Load.Connections > contract.MaxSockets
}

// readDatagrams returns the account now; nil where the transport is not over UDP. held
// returns the inodes of the sockets that the worker's processes hold; it is called
// when a socket is met for the first time, before the load as a rule. After an error
// nothing is read any more.
func (d *datagrams) readDatagrams(held func() map[uint32]bool) (*contract.UDP, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.asked {
		return nil, nil
	}
	account, err := d.account(held)
	if err != nil {
		d.asked = false
		return nil, fmt.Errorf("account for UDP: %w; there is no account of it from here on", err)
	}
	return account, nil
}

func (d *datagrams) account(held func() map[uint32]bool) (*contract.UDP, error) {
	c, err := udpinfo.Namespace()
	if err != nil {
		return nil, err
	}
	u := &contract.UDP{
		In: c.In, Out: c.Out, NoPorts: c.NoPorts, InErrors: c.InErrors,
		ReceiveBufferErrors: c.ReceiveBufferErrors, SendBufferErrors: c.SendBufferErrors,
	}
	if d.many {
		return u, nil
	}
	sockets, err := udpinfo.Sockets(contract.MaxSockets)
	if errors.Is(err, udpinfo.ErrMany) {
		d.many = true
		return u, nil
	}
	if err != nil {
		return nil, err
	}
	all := each.Of(sockets, func(s udpinfo.Socket) uint32 { return s.Inode })
	d.mine = d.mine.meet(all, held)
	for _, s := range sockets {
		if d.mine[s.Inode] {
			u.Sockets++
			u.Drops += s.Drops
			u.ReceiveBufferedBytes += s.ReceiveQueue
			u.SendQueuedBytes += s.SendQueue
		}
	}
	return u, nil
}
