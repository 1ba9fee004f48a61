package compress_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// The corpus is made of clauses of words. Words come with the frequencies of natural text (the
// n-th most frequent word about 1/n as often as the first), and every fifth is one that the text
// has used lately, since a text keeps to its subject. Rare words are made of syllables and
// characters, so that there are many of them.
const (
	commonChinese = "的 了 是 我 你 他 她 我们 大家 在 有 不 也 都 就 今天 昨天 明天 公会 副本 队友 装备 朋友 游戏 活动 任务 升级 一起 " +
		"开始 结束 时间 因为 所以 但是 如果 觉得 知道 喜欢 希望 可以 需要 终于 真的 特别 有点 非常 分享 照片 旅行 早上 晚上 周末 公司 " +
		"家里 孩子 音乐 电影 咖啡 火锅 天气 下雨 回来 过去 现在 以后 第一次 最后 服务器 版本 更新 攻略 奖励 赛季 排名 对手 胜利 失败"
	commonEnglish = "the a to of and in is it you that for on with as was we be this have at not are but they from or an my one all " +
		"so what there when can more if guild raid quest level boss drop patch team score season friend photo music movie coffee " +
		"update server weekend tonight finally really thanks lucky together"
	characters = "山水风云日月星辰春夏秋冬东南西北金木火土龙虎凤鹤剑刀弓盾城门桥路花草树林江河湖海红黄蓝绿黑白青紫高低大小长短远近快慢" +
		"心手眼口耳头身足飞走跑跳坐立行止读写听说学问思想情感爱恨喜怒哀乐生死存亡古今中外天地人和强弱新旧善恶美丑真假冷热明暗"
)

var syllables = strings.Fields("ka lo mi ren tar vo shi en dra qui pel nox sta vel tri or fen gar lum wy")

// corpus makes a text of about size bytes, Chinese with some English, the same for the same size.
func corpus(size int) string {
	random := rand.New(rand.NewPCG(42, uint64(size)))
	chinese, english := vocabulary(commonChinese, rareChinese), vocabulary(commonEnglish, rareEnglish)
	nextChinese, nextEnglish := words(random, chinese), words(random, english)
	var b strings.Builder
	for b.Len() < size {
		if random.IntN(5) > 0 {
			for range 3 + random.IntN(9) {
				b.WriteString(nextChinese())
			}
			b.WriteString([]string{"，", "，", "。", "！", "？\n"}[random.IntN(5)])
			continue
		}
		for range 3 + random.IntN(9) {
			b.WriteString(nextEnglish() + " ")
		}
		fmt.Fprintf(&b, "%d%s", random.IntN(1000), []string{", ", ". ", "!\n"}[random.IntN(3)])
	}
	return strings.ToValidUTF8(b.String()[:size], "")
}

func vocabulary(common string, rare func(*rand.Rand) string) []string {
	random := rand.New(rand.NewPCG(7, 7))
	words := strings.Fields(common)
	for range 6000 {
		words = append(words, rare(random))
	}
	return words
}

func rareChinese(random *rand.Rand) string {
	all := []rune(characters)
	word := make([]rune, 1+random.IntN(3))
	for i := range word {
		// Half of the characters are from all over the common block of some 3,000.
		if word[i] = all[random.IntN(len(all))]; random.IntN(2) == 0 {
			word[i] = rune(0x4e00 + 7*random.IntN(2900))
		}
	}
	return string(word)
}

func rareEnglish(random *rand.Rand) string {
	word := ""
	for range 2 + random.IntN(3) {
		word += syllables[random.IntN(len(syllables))]
	}
	return word
}

// words gives a text's words one by one; the n-th of the vocabulary comes with a probability of
// about 1/n.
func words(random *rand.Rand, vocabulary []string) func() string {
	var lately [32]string
	used := 0
	return func() string {
		if used > 0 && random.IntN(5) == 0 {
			return lately[random.IntN(min(used, len(lately)))]
		}
		n := int(math.Exp(random.Float64()*math.Log(float64(len(vocabulary))))) - 1
		lately[used%len(lately)] = vocabulary[n]
		used++
		return vocabulary[n]
	}
}

// coder is one way to make a text small; both functions keep what they hold between calls.
type coder struct {
	name   string
	encode func(dst, src []byte) []byte
	decode func(dst, src []byte, size int) []byte
}

func coders() []coder {
	coders := []coder{
		{"s2", s2.Encode, decodeS2},
		{"s2-better", s2.EncodeBetter, decodeS2},
	}
	reader, err := zstd.NewReader(nil)
	check(err)
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault} {
		writer, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithWindowSize(512<<10), zstd.WithLowerEncoderMem(true))
		check(err)
		coders = append(coders, coder{"zstd-" + level.String(),
			func(dst, src []byte) []byte { return writer.EncodeAll(src, dst[:0]) },
			func(dst, src []byte, _ int) []byte {
				out, err := reader.DecodeAll(src, dst[:0])
				check(err)
				return out
			}})
	}
	return append(coders, lz4Coder(), gzipCoder())
}

func decodeS2(dst, src []byte, _ int) []byte {
	out, err := s2.Decode(dst, src)
	check(err)
	return out
}

func lz4Coder() coder {
	var c lz4.Compressor
	return coder{"lz4",
		func(dst, src []byte) []byte {
			dst = dst[:cap(dst)]
			if need := lz4.CompressBlockBound(len(src)); len(dst) < need {
				dst = make([]byte, need)
			}
			n, err := c.CompressBlock(src, dst)
			check(err)
			return dst[:n]
		},
		func(dst, src []byte, size int) []byte {
			if cap(dst) < size {
				dst = make([]byte, size)
			}
			n, err := lz4.UncompressBlock(src, dst[:size])
			check(err)
			return dst[:n]
		}}
}

func gzipCoder() coder {
	writer, reader := gzip.NewWriter(nil), new(gzip.Reader)
	return coder{"gzip",
		func(dst, src []byte) []byte {
			out := bytes.NewBuffer(dst[:0])
			writer.Reset(out)
			_, err := writer.Write(src)
			check(err)
			check(writer.Close())
			return out.Bytes()
		},
		func(dst, src []byte, _ int) []byte {
			check(reader.Reset(bytes.NewReader(src)))
			out := bytes.NewBuffer(dst[:0])
			_, err := io.Copy(out, reader)
			check(err)
			return out.Bytes()
		}}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// BenchmarkCodecs compares ways to store bodies. "ratio" is stored bytes by bytes of text.
func BenchmarkCodecs(b *testing.B) {
	for _, size := range []int{1, 10, 100} {
		text := []byte(corpus(size << 10))
		for _, c := range coders() {
			packed := append([]byte(nil), c.encode(nil, text)...)
			if back := c.decode(nil, packed, len(text)); !bytes.Equal(back, text) {
				b.Fatalf("%s does not give the text back", c.name)
			}
			b.Run(fmt.Sprintf("%dKB/%s/encode", size, c.name), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				var buf []byte
				for b.Loop() {
					buf = c.encode(buf, text)
				}
				b.ReportMetric(float64(len(packed))/float64(len(text)), "ratio")
			})
			b.Run(fmt.Sprintf("%dKB/%s/decode", size, c.name), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				var buf []byte
				for b.Loop() {
					buf = c.decode(buf, packed, len(text))
				}
			})
		}
	}
}
