package compress_test

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"circle/internal/store/compress"
)

// largest is the size in bytes of a text of 100,000 characters of four bytes.
const largest = 400_000

func TestTextComesBack(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		codec uint8
	}{
		"empty":             {"", compress.Plain},
		"one character":     {"好", compress.Plain},
		"short":             {"早上好, everyone!", compress.Plain},
		"repeated":          {strings.Repeat("今天天气不错。", 100), compress.Zstd},
		"article":           {corpus(10 << 10), compress.Zstd},
		"noise":             {noise(2000), compress.Plain},
		"longest":           {strings.Repeat("🎉", largest/4), compress.Zstd},
		"over the longest":  {strings.Repeat("🎉", largest/4+1), compress.Plain},
		"not UTF-8":         {"\xff\xfe\x00", compress.Plain},
		"looks like a zstd": {"\x28\xb5\x2f\xfd\x00", compress.Plain},
	} {
		t.Run(name, func(t *testing.T) {
			codec, data := compress.Text(tc.text)
			assert.Equal(t, tc.codec, codec)
			if codec != compress.Plain {
				assert.LessOrEqual(t, len(data), len(tc.text)*7/8)
			}
			text, err := compress.Open(codec, data)
			require.NoError(t, err)
			assert.True(t, tc.text == text, "another text came back")
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	bomb := func(size int) []byte {
		w, err := zstd.NewWriter(nil)
		require.NoError(t, err)
		return w.EncodeAll(make([]byte, size), nil)
	}
	_, good := compress.Text(corpus(1 << 10))
	bent := append([]byte(nil), good...)
	bent[len(bent)/2] ^= 0x10
	for name, tc := range map[string]struct {
		codec uint8
		data  []byte
	}{
		"unknown codec":         {7, []byte("text")},
		"no frame":              {compress.Zstd, []byte("text")},
		"cut frame":             {compress.Zstd, good[:len(good)-5]},
		"changed byte":          {compress.Zstd, bent},
		"too large by one":      {compress.Zstd, bomb(largest + 1)},
		"far too large":         {compress.Zstd, bomb(1 << 28)},
		"two frames, too large": {compress.Zstd, append(bomb(largest), bomb(1)...)},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := compress.Open(tc.codec, tc.data)
			require.ErrorIs(t, err, compress.ErrMalformed)
			assert.Empty(t, text)
		})
	}
	text, err := compress.Open(compress.Zstd, bomb(largest))
	require.NoError(t, err)
	assert.Len(t, text, largest)
}

func TestManyCallersAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			want := corpus(1000 + 100*i)
			got, err := compress.Open(compress.Text(want))
			assert.NoError(t, err)
			assert.True(t, want == got)
		})
	}
	wg.Wait()
}

func FuzzOpen(f *testing.F) {
	for _, size := range []int{0, 100, 5000} {
		codec, data := compress.Text(corpus(size))
		f.Add(codec, data)
	}
	f.Add(compress.Zstd, []byte("\x28\xb5\x2f\xfd\xa4\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, codec uint8, data []byte) {
		text, err := compress.Open(codec, data)
		if err != nil {
			require.ErrorIs(t, err, compress.ErrMalformed)
			return
		}
		if codec != compress.Plain {
			require.LessOrEqual(t, len(text), largest)
		}
		again, err := compress.Open(compress.Text(text))
		require.NoError(t, err)
		require.True(t, text == again)
	})
}

func noise(size int) string {
	random := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return string(b)
}
