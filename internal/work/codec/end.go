package codec

import (
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// End is an exchange as one end sees it. It is not changed after At; any
// goroutine may use it.
type End struct {
	Out, In           Kind   // of structured messages: what is sent, what is received
	OutBytes, InBytes int64  // of the encoded messages
	Sent              []byte // what is sent with codec bytes, not to be changed; else nil

	incoming string // what errors call a message that is received
}

// At returns the exchange as an end of that role sees it.
func (x *Exchange) At(role contract.Role) End {
	if role == contract.Server {
		return End{Out: x.Down, In: x.Up, OutBytes: x.DownBytes, InBytes: x.UpBytes, Sent: x.down, incoming: "the request"}
	}
	return End{Out: x.Up, In: x.Down, OutBytes: x.UpBytes, InBytes: x.DownBytes, Sent: x.up, incoming: "the reply"}
}

// AcceptBytes checks what was received with codec bytes. The error says what was wrong.
func (e *End) AcceptBytes(in []byte) error { return sized(e.incoming, len(in), e.InBytes) }

// VerifyMessage compares a decoded message with the expected content. The error is
// of kind invalid and names the connection.
func (e *End) VerifyMessage(connection int, message any) error {
	if e.In.Same(message) {
		return nil
	}
	return load.Failure(contract.Invalid, fmt.Errorf("verify connection %d: %w", connection, errOtherValues))
}
