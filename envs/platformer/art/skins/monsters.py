"""Creatures: skeleton, zombie, alien, ghost, vampire, mummy, goblin, robot, frog, penguin."""

from envs.platformer.art.skins.parts import Skin

SKELETON = Skin(
    colours="w=f4f0e0 W=c4bca4 k=14101c",
    top="""
....wwwwww
...wwwwwwww
..wwwwwwwwww
..Wwwkkwwkkw
..Wwwkkwwkkw
..WWwwwwkwww
...Wwwwwwww
....wkwkwkw
....Wwwwww
......w
..wwwwwwwww
.w...Ww....w
.w.wwwwwww.w
.W...Ww....W
.w.wwwwwww.w
.ww..Ww...ww
....wwwww
....W...w
---
....wwwwww
...wwwwwwww
..wwwwwwwwww
..Wwwkkwwkkw
..Wwwkkwwkkw
..WWwwwwkwww
...Wwwwwwww
....Wkwkwkw
....Wwwwww
......w
..wwwwwwwww
.w...Ww....ww
ww.wwwwwww..w
W....Ww.....ww
w..wwwwwww
ww...Ww
....wwwww
....W...w
---
....wwwwww
...wwwwwwww
..wwwwwwwwww
..Wwwkkwwkkw
..Wwwkkwwkkw
..WWwwwwkwww
...Wwwwwwww
....wkwkwkw
....Wwwwww
......w
..wwwwwwwww
.w...Ww...w
.W.wwwwwwww
.ww..Ww..wW
...wwwwwww.ww
.....Ww
....wwwww
....W...w
""",
    legs=(
        ("....w...w", "....W...W", "....w...w", "....www.www"),
        ("...ww...ww", "..ww.....W", "..ww.....www"),
        ("....w..w", ".....wW", "...www.ww"),
    ),
    legs_at=0,
)

ZOMBIE = Skin(
    colours="g=7cb464 G=548848 k=1c1c20 e=f4f49c r=b03c3c h=3c3428 c=6c7ca0 C=4c5878 w=e8e4d0 "
    "p=6c5444 P=50403a b=7cb464 B=548848",
    top="""
...hh.h.h
..hhhhhhhh
..hgggghhg
..ggGggggg
..ggeegeeg
..GgekgekgG
..Gggggggg
...ggrwrwg
....gggGg
..CccGGcc
.ccccccccgggGg
.cCcccccggggg
.cCccrccC
..CcccccC.gGg
..Cccrrcgggg
...ccCccc
""",
    legs=(
        ("..ppppPP", "..ppp.PP", "..gpp.PG", "..bbb.BBB"),
        ("..ppppPP", ".pPp.PPp", "bbb..BBBB"),
    ),
    legs_at=2,
)

ALIEN = Skin(
    colours="g=a4e86c G=74b850 k=101020 w=ffffff y=f4f4a0 s=b0b8d0 S=7880a0 r=f05c9c p=9098b8 "
    "P=6c7494 b=a4e86c B=74b850",
    top="""
.y........y
.G........G
..G......G
...gggggg
.gggggggggg
gggggggggggg
gggkkggggkkg
ggkkwkggkkwk
Ggkkkkggkkkk
GGgkkggggkkg
.GGgggggggg
..GGgggggg
....gkkg
.....gg
...ssrrss
..gSsssssg
..g.ssss.g
.gg.SssS.gg
""",
    legs=(
        ("...pp.PP", "...pp.PP", "...bb.BB"),
        ("..pp..PP", ".bb...BB"),
        ("....pPP", "....bBB"),
    ),
    legs_at=1,
)

GHOST = Skin(
    colours="w=f4f8ff W=c8d4f4 V=98a8dc k=282844 r=f0a0b8",
    top="""
.....wwwww
...wwwwwwww
..wwwwwwwwww
.Wwwwwwwwwww
.WwwwwkkwwkkW
.WwwwwkkwwkkW
.WwwwwkkwwkkW
WWwwwrwwwwwwr
WWwwwwwwkkwww
WWwwwwwwkkwww
WWWwwwwwwwwwww
VWWwwwwwwwwwww
VWWwwwwwwwwww
""",
    legs=(
        ("VWWWwwwwwwww", "VVWWwwwwwwW", "VVWWWwwwWWW", "VV.WWW.WWW", ".V..W...W"),
        ("VWWWwwwwwwwww", "VVWWwwwwwwwW", ".VVWWWwwwWWW", ".VV.WWW.WW", "..V..W...W"),
        ("VWWWwwwwwwww", ".VWWwwwwwwW", "VVVWWwwwWW", "VV.VWW.WWW", "V...W..W"),
    ),
    legs_at=0,
    outline="2c3058",
)

VAMPIRE = Skin(
    colours="k=342a4c s=e8dce8 e=e03048 w=ffffff r=c82844 R=841c38 v=50405c p=4c3c5c P=3a2e48 "
    "b=2c2438 B=241d2e g=f0c850",
    top="""
....kkkkk
...kkkkkkk
..kkkkkkkkk
..kkksskkss
..kksessess
...ksssssss
....sswsws
R....sssss...r
RRk.kwwwwk..rr
RRRkkkwgwkkrrk
.RRkkkwwkkkrkk
.kRRkkwwkkssk
.kkRkrrrkkkkk
.kkkkvrrvkkk
kkkkkvvvvkkkk
kkk.kkkkkk.kk
""",
    legs=(
        ("kkk.pppPPk.kk", "kk..ppp.PP..k", "k...ppp.PP..k", "....bbb.BBB"),
        ("kkk.pppPPkkk", "kkkPPPpppkk", "kkBBB..bbbb"),
        ("kkk.pppPPkkk", "kk..ppPPP.kk", "...bbb.BBBB"),
    ),
    legs_at=0,
)

MUMMY = Skin(
    colours="w=e8dcb8 W=c4b48c D=94845c k=1c1814 e=7cf4d8 b=c4b48c B=94845c",
    top="""
...wwwwww
..wwWWwwww
..WWwwwwWW
..wwwwWWww
..wkkkkkkk
..Wkkekkek
..wwkkkkkw
..wwWWwwWW
...Wwwwww
.wwwwWWwww
wwWWwwwwWWwwWw
wW.wwWWww.wWww
Ww.WWwwWW
wW.wwwwww.W
.w.wWWwww.w
D..WwwwWW..D
D..wwwWww..w
""",
    legs=(
        ("..wwwwWW", "..WWw.wW", "..www.Ww", "..bbb.BBB"),
        ("..wwwwWW", "..WwwWWw", "BBB..bbbb"),
    ),
    legs_at=1,
)

GOBLIN = Skin(
    colours="g=68b048 G=488434 k=1c1818 y=fce858 w=f4f4e8 h=54402c v=94603c V=6c442c t=6c4c34 "
    "T=8c6444 p=54484c P=403840 b=4c3424 B=3a281c r=d0485c",
    top="""
............T
...........TTT
....gggggg.TTT
gg.ggggggggTt
GggggyyggyyGg
.GGggykggykGg
...ggggggggg
...Gwkkkkwkg
....Ggggggg.t
...vvvrvvv.t
..gvVvvvVvggt
.gg.vvvvv.gg
.gg.VhhhV
""",
    legs=(
        ("...pppPP", "...gg.GG", "...bbbBBB"),
        ("...pppPP", ".bbb..BBB"),
        ("...pppPP", "....gGG", "...bbBBB"),
    ),
    legs_at=0,
)

ROBOT = Skin(
    colours="m=a8bcd0 M=7488a4 D=4c5c78 k=182030 c=5cf4f0 r=f45858 y=f8c848 o=f0883c p=7488a4 "
    "P=5c6c88 b=f0883c B=b85c2c",
    top="""
......r
......D
.mmmmmmmmmmm
.mMMMMMMMMMm
DmMkkkkkkkMmD
DmMkcckkcckmD
DmMkcckkcckmD
.mMkkkkkkkMm
.mmmmmmmmmmm
....DDDDD
oommmmmmmmmoo
ooMmkkkkkmMoo
DD.mkrykcmMDD
DD.mkkkkkmMDD
yy.mmmmmmMMyy
y..MMMMMMMM.y
""",
    legs=(
        ("...DD..DD", "...pp..PP", "..bbbbBBBB", "..bbbbBBBB"),
        ("...DD..DD", ".bbbb..PP", ".bbbb.BBBB", "......BBBB"),
        ("...DD..DD", "...pp.BBBB", "..bbbbBBBB", "..bbbb"),
    ),
    legs_at=1,
)

FROG = Skin(
    colours="g=5cc850 G=3c9440 D=2c6c38 w=fcfcf0 k=14181c y=f0f0b0 r=e86478 o=f8a83c",
    top="""
..www...www
.gwkkg.gwkkg
.gwkkgggwkkg
.ggggggggggg
gggggggggggggg
gGkgggggggggkg
ggGkkkkkkkkkgg
.ggGrrrrrrGgg
..gyyyyyyyyg
.ggyyyyyyyyGg
gGgyyyyyyyyGgg
""",
    legs=(
        ("gGDgyyyyyyGDgG", "ggDGgggggGDDgg", ".oooo..ooooo"),
        ("gGDgyyyyyyGDgG", ".ggGgggggGggg", ".gG......Ggg", ".gg.......gg", "ooo......oooo"),
    ),
    legs_at=0,
)

PENGUIN = Skin(
    colours="k=282c44 K=40486c w=f8f8f8 W=ccd4e4 o=f8a030 O=c87424 e=101018 r=e84c58 R=ac2c44",
    top="""
....kkkkk
..kkkKkkkk
.kkKkkkkkkk
.kkkkwwkwwk
.kkkwwewwew
.kkkwwwwoooo
.kkkkwwwOOO
.rrrrrrrrrr
RrrRRRRRRrr
.rrkwwwwwwk
kkkwwwwwwwkk
Kkkwwwwwwwkkk
KkkwwwwwwWk.k
kkkwwwwwwWk
k.kWwwwwwWk
..kkWwwwWWk
---
....kkkkk
..kkkKkkkk
.kkKkkkkkkk
.kkkkwwkwwk
.kkkwwewwew
.kkkwwwwoooo
.kkkkwwwOOO
.rrrrrrrrrr
RrrRRRRRRrr
.rrkwwwwwwkk
.kkwwwwwwwkkkk
kkkwwwwwwwkk.k
KKkwwwwwwWk
K.kwwwwwwWk
..kWwwwwwWk
..kkWwwwWWk
---
....kkkkk
..kkkKkkkk
.kkKkkkkkkk
.kkkkwwkwwk
.kkkwwewwew
.kkkwwwwoooo
.kkkkwwwOOO
.rrrrrrrrrr
RrrRRRRRRrr
.rrkwwwwwwk
kkkwwwwwwwkk
kKkwwwwwwwkk
KKkwwwwwwWkk
.kkwwwwwwWkk
..kWwwwwwWk
..kkWwwwWWk
""",
    legs=(
        ("...kkkkkkk", "..oooo.OOOO"),
        (".ooookkkk", "......OOOO"),
        ("...kkkOOOO", "..oooo"),
    ),
    legs_at=0,
)

SKINS = {
    "alien": ALIEN,
    "frog": FROG,
    "ghost": GHOST,
    "goblin": GOBLIN,
    "mummy": MUMMY,
    "penguin": PENGUIN,
    "robot": ROBOT,
    "skeleton": SKELETON,
    "vampire": VAMPIRE,
    "zombie": ZOMBIE,
}
