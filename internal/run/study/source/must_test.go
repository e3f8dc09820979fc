package source

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}
