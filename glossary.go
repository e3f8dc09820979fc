package netdyno

import _ "embed" // the glossary

// Glossary is GLOSSARY.md: tables of a word or several, what they mean, and what they
// are not to be called.
//
//go:embed GLOSSARY.md
var Glossary string
