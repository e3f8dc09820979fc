package wire

import "netdyno/internal/contract"

// What a client checks before it is ready, option verify.
const (
	VerifyContent = "content" // the reply is what our servers send
	VerifyLength  = "length"  // it has the right size: for servers that are not ours
)

// VerifyOption declares what a client checks before it is ready.
func VerifyOption() contract.Option {
	return contract.Option{
		Name: "verify", Type: contract.TypeChoice, Default: VerifyContent, Choices: []string{VerifyContent, VerifyLength}, Roles: []contract.Role{contract.Client},
		Doc: "what is compared before ready: the content that our servers send, or only its length, for a server of yours; a message only has to decode then",
	}
}
