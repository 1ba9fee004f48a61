// Package compress makes long texts small for storing and reads them back.
package compress

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"circle/internal/social"
)

// Codecs say how a text is stored. The numbers are stored with the texts for ever: one is never
// given another meaning, and Open reads all of them whatever Text writes.
const (
	// Plain is the text itself, in UTF-8.
	Plain uint8 = 0
	// Zstd is one Zstandard frame (RFC 8878) with its content's checksum.
	Zstd uint8 = 1
)

// maxText is the size in bytes of the largest text: nothing is inflated beyond it.
const maxText = social.MaxContentLength * utf8.UTFMax

// ErrMalformed says that bytes are not a stored text: an unknown codec, damaged data, or more text
// than there can be. Errors of Open wrap it.
var ErrMalformed = errors.New("malformed stored text")

// The encoder and the decoder are safe for many callers at once; as many run as there are
// processors, the others wait. Only options can make their constructors fail.
var (
	encoder = must(zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithWindowSize(512<<10), // the largest text fits, and no more memory is held
		zstd.WithLowerEncoderMem(true)))
	decoder = must(zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(0),
		zstd.WithDecoderMaxMemory(maxText),
		zstd.WithDecoderLowmem(true)))
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Text gives the codec and the bytes to store for a text. The text stays plain when compressing
// would save less than an eighth of it, or when Open would refuse it for its length.
func Text(s string) (codec uint8, data []byte) {
	plain := []byte(s)
	if len(plain) <= maxText {
		packed := encoder.EncodeAll(plain, make([]byte, 0, len(plain)/2))
		if len(packed) <= len(plain)-(len(plain)+7)/8 {
			return Zstd, packed
		}
	}
	return Plain, plain
}

// Open reads what Text stored. It inflates to at most the size of the largest text and never
// panics; whatever it can't read is an error that wraps ErrMalformed.
func Open(codec uint8, data []byte) (string, error) {
	switch codec {
	case Plain:
		return string(data), nil
	case Zstd:
		text, err := decoder.DecodeAll(data, nil)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		return string(text), nil
	}
	return "", fmt.Errorf("%w: codec %d", ErrMalformed, codec)
}
