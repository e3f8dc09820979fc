package wire

import "netdyno/internal/contract"

// What a client checks before it is ready, option verify.
const (
	VerifyContent = "content" // the reply is what our servers send
	VerifyLength  = "length"  // it has the right size: for servers that are not ours
	VerifyStatus  = "status"  // it may have any length, and what came is counted
)

// VerifyOption declares what a client checks before it is ready.
func VerifyOption() contract.Option {
	return contract.Option{
		Name: "verify", Type: contract.TypeChoice, Default: VerifyContent, Choices: []string{VerifyContent, VerifyLength}, Roles: []contract.Role{contract.Client},
		Doc: "what is compared before ready: the content that our servers send, or only its length, for a server of yours; a message only has to decode then",
	}
}

// VerifyStatusOption is VerifyOption with VerifyStatus among its choices.
func VerifyStatusOption() contract.Option {
	o := VerifyOption()
	o.Choices = append(o.Choices, VerifyStatus)
	o.Doc += "; status: replies may have any length, and what came is counted"
	return o
}
