package source

// Key is a key of a study file.
type Key struct {
	Name  string // those of a block, or of each item of a list, follow its name and a dot
	Form  string // what stands behind it
	Doc   string
	Typed string // its name on a command line; empty where it can be written in a file only
}

// Keys returns every key of a study file, in the order of the reader's tables.
func Keys() []Key { return keysOf("", studyBlock.abouts()) }

func keysOf(prefix string, keys []about) (all []Key) {
	for _, k := range keys {
		doc := k.doc
		if k.needed {
			doc += " (must be there)"
		}
		all = append(all, Key{prefix + k.name, k.form, doc, k.typed})
		all = append(all, keysOf(prefix+k.name+".", k.keys)...)
	}
	return all
}
