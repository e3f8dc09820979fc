package relay

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/google/nftables/xt"
	"golang.org/x/sys/unix"
)

// device is a host's interface on rig netns (docs/rigs.md).
const device = "nd0"

// rule sends what comes in through the interface to the queue.
type rule struct {
	conn  *nftables.Conn
	table *nftables.Table
}

func addRule(namespace int) (*rule, error) {
	// One lasting connection: it outlives the caller's descriptor.
	conn, err := nftables.New(nftables.WithNetNSFd(namespace), nftables.AsLasting())
	if err != nil {
		return nil, fmt.Errorf("connect to nftables: %w", err)
	}
	r := &rule{conn: conn, table: conn.AddTable(&nftables.Table{Name: "relay", Family: nftables.TableFamilyINet})}
	chain := conn.AddChain(&nftables.Chain{
		Name: "in", Table: r.table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityMangle,
	})
	name := make([]byte, unix.IFNAMSIZ)
	copy(name, device)
	conn.AddRule(&nftables.Rule{Table: r.table, Chain: chain, Exprs: []expr.Any{
		&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: name},
		&expr.Meta{Key: expr.MetaKeyPKTTYPE, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.PACKET_HOST}},
		// That of iptables: kernels without netem also lack that of nftables (NFT_QUEUE).
		&expr.Target{Name: "NFQUEUE", Rev: 3, Info: toQueue()},
	}})
	if err := conn.Flush(); err != nil {
		err = fmt.Errorf("add nftables rule (needs a kernel with NF_TABLES_INET, NETFILTER_NETLINK_QUEUE, NFT_COMPAT and NETFILTER_XT_TARGET_NFQUEUE): %w", err)
		return nil, errors.Join(err, conn.CloseLasting())
	}
	return r, nil
}

// toQueue is the target's structure; with "bypass", packets pass when nobody reads the queue.
// Source: include/uapi/linux/netfilter/xt_NFQUEUE.h, struct xt_NFQ_info_v3.
func toQueue() *xt.Unknown {
	const queues, bypass = 1, 1
	var b xt.Unknown
	for _, field := range []uint16{queueNumber, queues, bypass, 0} {
		b = binary.NativeEndian.AppendUint16(b, field)
	}
	return &b
}

// remove removes the table and closes the connection.
func (r *rule) remove() error {
	r.conn.DelTable(r.table)
	return errors.Join(r.conn.Flush(), r.conn.CloseLasting())
}
