package trial

// Unverified says that nobody compared the received bytes with the sent ones.
const Unverified = "unverified"

var flagUnverified = Flag{
	Name:    Unverified,
	Changes: "nobody knows that what arrived is what was sent",
	Warning: "were driven by a program that does not check what it receives",
	Advice:  "compare its figures with those of an arm that does, under the same load",
	raise: func(e *audit) string {
		for _, g := range e.generators {
			if Foreign(g) {
				return g.Name + " wraps a program that does not check what it receives"
			}
		}
		return ""
	},
}
