package trial

import (
	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// SendBuffer says that the send buffer of the end that sends held its connections
// back.
const SendBuffer Limit = "send-buffer"

var limitSendBuffer = limitRule{SendBuffer, restraint{
	held:  func(g record.TCPGrowth) float64 { return g.SendBufferS },
	of:    func(sender contract.Role) contract.Role { return sender },
	words: func(sender, _ string) string { return "the " + sender + "'s own send buffer held them back" },
}.prove, meanSendBuffer}

// What its name stands for in netdyno explain.
var meanSendBuffer = Meaning{Called: "the send buffer", Means: "the sender's own buffer held the connections back more than anything else", Cure: "raise net.ipv4.tcp_wmem or the option send_buffer"}
