package redisstore

import (
	"encoding/binary"
	"math"
	"time"
)

// A packed value is, in this order:
//
//	4 bytes  index epoch of the role, big endian
//	8 bytes  version of the row, big endian
//	1 byte   layout of the rest; a reader takes a layout that it does not know for an absent value
//	         the entity's own fields
//
// Numbers are varints; a text is its length in bytes and its bytes; a text that may be missing is 0,
// or its length plus one and its bytes.
const (
	prefixLength = 12
	// ticketLength must be less than prefixLength: that is how scripts and readers know a ticket.
	ticketLength = 11
	headLength   = prefixLength + 1
	layoutOne    = 1
)

func appendHead(b []byte, epoch uint32, version int64) []byte {
	b = binary.BigEndian.AppendUint32(b, epoch)
	b = binary.BigEndian.AppendUint64(b, uint64(version))
	return append(b, layoutOne)
}

// splitHead takes a value apart; ok is false when it is absent, too short, of another epoch or of an
// unknown layout.
func splitHead(value string, epoch uint32) (version int64, rest *reader, ok bool) {
	if len(value) < headLength || value[prefixLength] != layoutOne {
		return 0, nil, false
	}
	prefix := []byte(value[:prefixLength])
	if binary.BigEndian.Uint32(prefix) != epoch {
		return 0, nil, false
	}
	return int64(binary.BigEndian.Uint64(prefix[4:])), &reader{rest: value[headLength:]}, true
}

func appendCount(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) }

func appendText(b []byte, s string) []byte { return append(appendCount(b, len(s)), s...) }

func appendOptional(b []byte, s *string) []byte {
	if s == nil {
		return append(b, 0)
	}
	return append(appendCount(b, len(*s)+1), *s...)
}

func appendTime(b []byte, t time.Time) []byte { return binary.AppendVarint(b, t.UnixMilli()) }

// reader takes the fields of a packed value one by one. Its first failure makes all that follows
// zero; ok tells in the end.
type reader struct {
	rest string
	bad  bool
}

// ok says that every field was readable and nothing is left over.
func (r *reader) ok() bool { return !r.bad && r.rest == "" }

func (r *reader) take(n uint64) string {
	if r.bad || n > uint64(len(r.rest)) {
		r.bad = true
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *reader) byte() byte {
	if s := r.take(1); s != "" {
		return s[0]
	}
	return 0
}

func (r *reader) uvarint() uint64 {
	n, size := binary.Uvarint([]byte(r.rest[:min(len(r.rest), binary.MaxVarintLen64)]))
	if size <= 0 || r.bad {
		r.bad = true
		return 0
	}
	r.take(uint64(size))
	return n
}

func (r *reader) count() int64 {
	n := r.uvarint()
	if n > math.MaxInt64 {
		r.bad = true
		return 0
	}
	return int64(n)
}

func (r *reader) text() string { return r.take(r.uvarint()) }

func (r *reader) optional() *string {
	n := r.uvarint()
	if n == 0 {
		return nil
	}
	s := r.take(n - 1)
	return &s
}

func (r *reader) time() time.Time {
	n := r.uvarint()
	return time.UnixMilli(int64(n>>1) ^ -int64(n&1)).UTC()
}
