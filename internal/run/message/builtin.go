package message

import (
	"encoding/json"
	"fmt"
	"strings"

	"netdyno/internal/contract"
)

const (
	typeText  = "netdyno.v1.Text"
	typeReply = "netdyno.v1.Reply"
)

// Names are the built-in messages:
//
//	simple    one string up (48 bytes of UTF-8), one down (57)
//	complex   the same string up, twenty fields of one string each down (57 to 72 bytes, 1,278 in all)
func Names() []string { return []string{"simple", "complex"} }

// question goes up with every built-in message.
const question = "Which trains leave Basel for Milan before 10:00?"

// answers come down with complex, the first of them with simple.
var answers = []string{
	"EC 307 leaves Basel SBB at 06:28, arrives 10:37, track 7.",
	"IC 61 leaves Basel SBB at 06:33, arrives 11:12, change in Spiez.",
	"IR 36 leaves Basel SBB at 06:47, arrives 11:42, change in Zürich HB.",
	"ICE 3 leaves Basel SBB at 07:03, arrives 11:37, change in Arth-Goldau.",
	"IC 21 leaves Basel SBB at 07:04, arrives 11:37, direct to Lugano.",
	"EC 151 leaves Basel SBB at 07:28, arrives 11:42, track 4.",
	"S 3 leaves Basel SBB at 07:32, arrives 12:10, change in Olten and Brig.",
	"IC 61 leaves Basel SBB at 07:33, arrives 12:12, restaurant car.",
	"RE 7 leaves Basel SBB at 07:41, arrives 12:42, two changes.",
	"IR 26 leaves Basel SBB at 08:04, arrives 12:37, bicycles on request.",
	"EC 57 leaves Basel SBB at 08:28, arrives 12:37, seats only.",
	"IC 6 leaves Basel SBB at 08:33, arrives 12:42, change in Brig.",
	"TGV 9203 leaves Basel SBB at 08:34, arrives 13:40, change in Zürich HB.",
	"IC 21 leaves Basel SBB at 09:04, arrives 13:37, quiet zone in coach 5.",
	"ICE 271 leaves Basel SBB at 09:13, arrives 13:42, change in Bern.",
	"EC 317 leaves Basel SBB at 09:28, arrives 13:37, track 11.",
	"IC 61 leaves Basel SBB at 09:33, arrives 14:12, family coach.",
	"IR 36 leaves Basel SBB at 09:47, arrives 14:42, change in Rotkreuz.",
	"S 1 leaves Basel SBB at 09:52, arrives 15:10, three changes.",
	"EC 59 leaves Basel SBB at 09:58, arrives 14:10, fully booked.",
}

func builtin(name string) (s contract.Structure, ok bool) {
	up := contract.Content{Type: typeText, JSON: text(map[string]string{"text": question})}
	switch name {
	case "simple":
		return contract.Structure{Name: name, Up: up, Down: contract.Content{Type: typeText, JSON: text(map[string]string{"text": answers[0]})}}, true
	case "complex":
		return contract.Structure{Name: name, Up: up, Down: contract.Content{Type: typeReply, JSON: reply()}}, true
	}
	return contract.Structure{}, false
}

// reply is the JSON of complex: an object of twenty keys, replyValue1 to
// replyValue20, in that order.
func reply() string {
	fields := make([]string, len(answers))
	for i, answer := range answers {
		fields[i] = fmt.Sprintf(`"replyValue%d":%s`, i+1, text(answer))
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// text is what encoding/json makes of strings, which cannot fail.
func text(of any) string {
	encoded, _ := json.Marshal(of)
	return string(encoded)
}
