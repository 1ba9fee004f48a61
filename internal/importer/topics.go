package importer

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// topic is what players are interested in and feeds are about.
type topic struct {
	name             string
	chinese, english []string
}

func about(name, chinese, english string) topic {
	return topic{name: name, chinese: strings.Fields(chinese), english: strings.Split(english, ", ")}
}

// topics are those that many like first.
var topics = [...]topic{
	about("games", "副本 公会 装备 排位赛 新版本 队友 BOSS 赛季", "the guild raid, a ranked match, the new patch, our tank, the season pass, that last boss"),
	about("food", "火锅 小笼包 麻辣烫 烧烤 早茶 奶茶 红烧肉 饺子", "hotpot, street noodles, dumplings, milk tea, the night market, a home-made curry"),
	about("music", "演唱会 吉他 新专辑 爵士乐 钢琴 民谣 黑胶唱片 合唱团", "the concert, a new album, my old guitar, live jazz, the piano, a vinyl record"),
	about("film", "新电影 纪录片 导演 电影院 悬疑片 动画片 影评 配乐", "the new film, a documentary, the late show, that director, an animated short, the soundtrack"),
	about("travel", "高铁 古镇 海边 签证 青旅 雪山 背包 日出", "the night train, an old town, the coast, a mountain hut, my backpack, the sunrise"),
	about("photography", "镜头 胶片 夜景 人像 街拍 三脚架 构图 光线", "a prime lens, film rolls, the city at night, a portrait, the tripod, golden hour"),
	about("football", "德比 进球 世界杯 守门员 加时赛 主场 教练 转会", "the derby, extra time, the keeper, a free kick, our home ground, the transfer window"),
	about("basketball", "三分球 季后赛 扣篮 控球后卫 篮板 总决赛 球鞋 街球", "the playoffs, a buzzer beater, the point guard, rebounds, the finals, new sneakers"),
	about("cats", "猫咪 猫粮 猫爬架 铲屎官 小橘猫 布偶猫 逗猫棒 打呼噜", "my cat, the tabby, a cardboard box, the vet, cat videos, a scratching post"),
	about("dogs", "遛狗 柯基 金毛 狗狗公园 飞盘 小奶狗 训练 骨头", "the dog park, a corgi, a long walk, the frisbee, puppy training, muddy paws"),
	about("running", "马拉松 晨跑 配速 跑鞋 十公里 拉伸 江边 终点线", "the marathon, a morning run, my pace, running shoes, ten kilometres, the finish line"),
	about("books", "科幻小说 图书馆 推理小说 诗集 书店 读书会 三体 散文", "a novel, the library, poetry, a second-hand bookshop, the reading club, science fiction"),
	about("code", "编译器 代码评审 开源项目 数据库 重构 单元测试 键盘 凌晨上线", "the compiler, a code review, an open source project, the database, refactoring, a flaky test"),
	about("coffee", "手冲咖啡 拿铁 咖啡豆 浓缩 烘焙 咖啡馆 磨豆机 冷萃", "a flat white, pour-over, fresh beans, the espresso machine, cold brew, the corner café"),
	about("fashion", "连衣裙 穿搭 帆布鞋 西装 配色 二手店 围巾 设计师", "the outfit, a vintage jacket, canvas shoes, colours, a designer, the thrift shop"),
	about("gardening", "多肉 阳台 番茄 玫瑰 浇水 种子 花盆 春天", "tomatoes, the balcony, roses, seedlings, the compost, spring bulbs"),
	about("astronomy", "望远镜 流星雨 月食 银河 火星 空间站 黑洞 星轨", "the telescope, a meteor shower, the eclipse, the milky way, mars, star trails"),
	about("chess", "围棋 残局 开局 象棋 复盘 定式 九段 对弈", "the endgame, an opening, a blitz match, the club, a lost queen, go problems"),
	about("cycling", "骑行 公路车 爬坡 头盔 环湖 换胎 码表 逆风", "the road bike, a long climb, a flat tyre, headwind, the lake loop, a new helmet"),
	about("painting", "水彩 素描 油画 美术馆 速写本 颜料 国画 临摹", "watercolours, a sketchbook, oil paint, the gallery, ink drawing, a still life"),
}

var chineseSentences = []string{
	"今天聊聊%s，还有%s。", "%s真的太棒了！", "终于等到%s，和%s一样让人开心。", "有没有人也喜欢%s？", "周末除了%s就是%s。",
	"第一次接触%s，完全停不下来。", "朋友推荐了%s，果然没失望。", "关于%s，我还有很多想说的，下次再写%s。", "下雨天最适合%s了。", "说实话，%s比%s难多了。",
}

var englishSentences = []string{
	"Today was all about %s and %s.", "I can't stop thinking about %s!", "Finally: %s, and after that %s.", "Who else is into %s?", "Nothing beats %s on a weekend.",
	"First time with %s, and it won't be the last.", "A friend told me about %s, and it did not disappoint.", "There is more to say about %s, and %s too.", "Rainy days are for %s.", "Honestly, %s is harder than %s.",
}

// content makes a text about a topic of about the given number of characters, at least a sentence.
// Some are Chinese, some English, some both.
func content(r *rand.Rand, t topic, length int) string {
	language := r.IntN(5) // 0 and 1 are Chinese, 2 and 3 English
	var b strings.Builder
	for n := 0; n == 0 || n < length; {
		sentences, words := chineseSentences, t.chinese
		if language > 3 && r.IntN(2) == 0 || language == 2 || language == 3 {
			sentences, words = englishSentences, t.english
		}
		if n > 0 {
			b.WriteByte(' ')
		}
		sentence := sentences[r.IntN(len(sentences))]
		var fill []any
		for range strings.Count(sentence, "%s") {
			fill = append(fill, words[r.IntN(len(words))])
		}
		sentence = fmt.Sprintf(sentence, fill...)
		b.WriteString(sentence)
		n += utf8.RuneCountInString(sentence) + 1
	}
	if r.IntN(3) == 0 {
		b.WriteString(" #" + t.name)
	}
	return b.String()
}

var (
	surnames   = []rune("王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎")
	givenRunes = []rune("伟芳娜敏静丽强磊军洋勇艳杰娟涛明超秀霞平刚桂英华玉兰红梅鹏飞宇轩子涵欣怡浩然诗琪梦佳雨泽思远晓东文博嘉琳天佑青云星辰")
	givenNames = strings.Fields("Alice Ben Clara David Emma Felix Grace Henry Iris Jack Kate Leo Maria Noah Olive Paul Quinn Rosa Sam Tess " +
		"Uma Victor Wendy Xena Yara Zoe Adam Bella Colin Diana Eric Fiona George Hannah Ivan Julia Kevin Laura Martin Nina Oscar Piper")
	lastNames = strings.Fields("Baker Clarke Davies Evans Foster Gray Hughes Irwin Jones Kelly Lee Martin Nolan Owens Parker Quick Reid Smith " +
		"Turner Unwin Vance Walsh Young Abbott Brooks Carter Dixon Ellis Fisher Grant Hart Jensen Knight Lambert Moore Norris Palmer Ross Shaw")
)

// lifelikeName is a name, not always another.
func lifelikeName(r *rand.Rand) string {
	switch r.IntN(10) {
	case 0, 1, 2, 3:
		name := string(surnames[r.IntN(len(surnames))])
		for range 1 + r.IntN(2) {
			name += string(givenRunes[r.IntN(len(givenRunes))])
		}
		return name
	case 4, 5, 6:
		return givenNames[r.IntN(len(givenNames))] + " " + lastNames[r.IntN(len(lastNames))]
	case 7:
		return strings.ToLower(givenNames[r.IntN(len(givenNames))]) + fmt.Sprint(1960+r.IntN(50))
	case 8:
		return "小" + string(givenRunes[r.IntN(len(givenRunes))]) + fmt.Sprint(r.IntN(1000))
	}
	return givenNames[r.IntN(len(givenNames))] + string(givenRunes[r.IntN(len(givenRunes))])
}
