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

// Table is the name of the nftables table, of family inet, that a relay makes in
// the namespace, replaces when it is there, and removes with everything in it.
const Table = "netdyno"

// rule sends what comes in through an interface to the queue. "bypass" lets
// packets pass when nobody reads the queue: when we were killed.
type rule struct {
	conn  *nftables.Conn
	table *nftables.Table
	chain *nftables.Chain
}

// queueings are the ways to send a packet to the queue: that of nftables, and
// that of iptables for kernels without the former.
// Source: include/uapi/linux/netfilter/xt_NFQUEUE.h, struct xt_NFQ_info_v3.
var queueings = []expr.Any{
	&expr.Queue{Num: queueNumber, Flag: expr.QueueFlagBypass},
	&expr.Target{Name: "NFQUEUE", Rev: 3, Info: iptablesQueue()},
}

func iptablesQueue() *xt.Unknown {
	const queues, bypass = 1, 1
	var b xt.Unknown
	for _, field := range []uint16{queueNumber, queues, bypass, 0} {
		b = binary.NativeEndian.AppendUint16(b, field)
	}
	return &b
}

func addRule(namespace int, in string) (*rule, error) {
	// One lasting connection: it outlives the caller's descriptor.
	conn, err := nftables.New(nftables.WithNetNSFd(namespace), nftables.AsLasting())
	if err != nil {
		return nil, fmt.Errorf("connect to nftables: %w", err)
	}
	r := &rule{conn: conn, table: &nftables.Table{Name: Table, Family: nftables.TableFamilyINet}}
	for _, queueing := range queueings {
		// A kernel that lacks an expression says that there is no such file.
		if err = r.install(in, queueing); !errors.Is(err, unix.ENOENT) {
			break
		}
	}
	if err != nil {
		err = fmt.Errorf("add nftables rule (needs a kernel with NF_TABLES_INET, NETFILTER_NETLINK_QUEUE, "+
			"and NFT_QUEUE or both NFT_COMPAT and NETFILTER_XT_TARGET_NFQUEUE): %w", err)
		return nil, errors.Join(err, conn.CloseLasting())
	}
	return r, nil
}

// install replaces the table by one with the rule, all at once or not at all.
func (r *rule) install(in string, queueing expr.Any) error {
	r.conn.AddTable(r.table) // deleting what is not there is an error
	r.conn.DelTable(r.table)
	r.conn.AddTable(r.table)
	r.chain = r.conn.AddChain(&nftables.Chain{
		Name: "relay", Table: r.table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityMangle,
	})
	name := make([]byte, unix.IFNAMSIZ)
	copy(name, in)
	r.conn.AddRule(&nftables.Rule{Table: r.table, Chain: r.chain, Exprs: []expr.Any{
		&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: name},
		&expr.Meta{Key: expr.MetaKeyPKTTYPE, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.PACKET_HOST}},
		queueing,
	}})
	return r.conn.Flush()
}

// empty lets packets pass the queue by, while those in it stay there.
func (r *rule) empty() error {
	r.conn.FlushChain(r.chain)
	return r.flush("remove nftables rule")
}

// remove removes the table and closes the connection.
func (r *rule) remove() error {
	r.conn.DelTable(r.table)
	return errors.Join(r.flush("remove nftables table"), r.conn.CloseLasting())
}

// flush carries out what was asked; that it is gone already is as good.
func (r *rule) flush(what string) error {
	if err := r.conn.Flush(); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
