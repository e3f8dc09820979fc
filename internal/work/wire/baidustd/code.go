package baidustd

// Codes of a reply that failed. Source: Apache brpc, src/brpc/errno.proto.
const (
	NoService   int32 = 1001 // ENOSERVICE
	NoMethod    int32 = 1002 // ENOMETHOD
	BadRequest  int32 = 1003 // EREQUEST
	TimedOut    int32 = 1008 // ERPCTIMEDOUT
	LostSocket  int32 = 1009 // EFAILEDSOCKET
	Overcrowded int32 = 1011 // EOVERCROWDED
	Internal    int32 = 2001 // EINTERNAL
	BadResponse int32 = 2002 // ERESPONSE
	LogOff      int32 = 2003 // ELOGOFF: the server is stopping
	Limited     int32 = 2004 // ELIMIT
)

var names = map[int32]string{
	NoService: "ENOSERVICE", NoMethod: "ENOMETHOD", BadRequest: "EREQUEST", TimedOut: "ERPCTIMEDOUT", LostSocket: "EFAILEDSOCKET",
	Overcrowded: "EOVERCROWDED", Internal: "EINTERNAL", BadResponse: "ERESPONSE", LogOff: "ELOGOFF", Limited: "ELIMIT",
}

// CodeName returns brpc's name of a code; empty for one that has none here.
func CodeName(code int32) string { return names[code] }
