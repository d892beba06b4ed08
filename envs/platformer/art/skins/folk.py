"""Trades and costumes: clown, farmer, chef, astronaut, cowboy, diver, doctor, elf."""

from envs.platformer.art.skins.parts import Skin

CLOWN = Skin(
    colours="o=f8782c O=c4501c s=fcf0e8 r=ec3048 k=241c2c b=3c8cf0 y=fcdc48 g=4ccc6c p=f06cc0 "
    "w=ffffff v=8c5ce0 V=6c40b8 t=ec3048 T=ac1c38",
    top="""
......y
.....bbb
....bbbb
.ooobbbbooo
oooosssssooo
oooosbssbsooo
OOosssksskoO
.OosssssrroO
...ssssrrrr
...sprrrrrs
....srrrrs
.ywwwwwwwwwy
yywywwywwywy
vvvvyggvgggg
vv.vygggg.gg
vV.vvygg..gg
ww.vvygg..ww
...vvvggg
""",
    legs=(
        ("..vvvvgggg", "..yyy..yyy", "..vvv..ggg", ".tttt..TTTTT"),
        ("..vvvvgggg", ".yyy....yyy", ".tttt..TTTTT"),
        ("..vvvvgggg", "...yyyyyy", "..tttttTTTT"),
    ),
    legs_at=0,
)

FARMER = Skin(
    colours="y=f4d470 Y=cca040 h=8c5830 s=f4c494 k=2c2020 r=d84c40 R=a43430 d=4c78c8 D=34569c "
    "p=4c78c8 P=34569c b=6c4428 B=50321e t=9c7040 m=c4ccd4 g=f8e060",
    top="""
...YYYY....m.m
..yyyyyyy..m.m
..YrrrrrY..mmm
yyyyyyyyyyy.t
..hhssssss..t
..hsskssks..t
..hsssssss..t
...sskkkss..t
....sssss...t
..rrdrrdrr..t
.rrrdrrdrrr.t
.rr.dddddrsst
.rR.dgddg..st
.ss.ddddd...t
....ddDdd...t
""",
    legs=(
        ("..ppppPP..t", "..ppp.PP..t", "..ppp.PP", "..bbb.BBB"),
        ("..ppppPP..t", "..PPpppp..t", "BBB..bbbb"),
    ),
    legs_at=2,
)

CHEF = Skin(
    colours="w=fcfcfc W=ccd4e0 s=f8c8a0 k=282028 h=6c4028 r=e84c40 p=5c6478 P=40485c b=24242c "
    "B=1a1a20 m=4c5464 M=6c7484 t=8c5c38",
    top="""
..wwww.www
.wwwwwwwwww
.wwWwwwwWww
.wwwwwwwwww
..WwWwwWwW
..wwwwwwww
..hhssssss
..hsskssks
..sssssssss
..sshhhhhs
...ssssss
.wwrrrrrww
wwwwrrwwwwwMmm
wwwwwwkwwssttm
wW.wwwwww..Mmm
ww.wwwkww
ss.wwwwww
...wwwkww
""",
    legs=(
        ("..ppppPP", "..ppp.PP", "..bbb.BBB"),
        ("..ppppPP", "BBBp.bbbb"),
        ("..ppppPP", "bbb..BBBB"),
    ),
    legs_at=1,
)

ASTRONAUT = Skin(
    colours="w=f4f4f8 W=c0c8dc o=f48c3c k=203060 c=4c8cdc C=a4dcff r=e84c4c g=58d880 d=6c7894 "
    "b=8c98b8 B=6c7894",
    top="""
....wwwwww
..wwwwwwwww
.wwwkkkkkkkw
.wwkkcccCCkkw
.WwkcccccCCkw
.WwkccccccCkw
.WwkkcccccKkw
.WWwkkkkkkkw
..WWwwwwwww
ddWwwwwwwwwww
ddowwwwwwwooww
ddowwrgcwwWoww
ddWwwwwwwwW.WW
dd.wwwwwwwW.oo
.d.WWwwwwWW
""".replace("K", "k"),
    legs=(
        ("..wwwwWWW", "..www.WWW", "..ooo.ooo", "..bbb.BBBB"),
        ("..wwwwWWW", ".www..WWWW", "bbbb..BBBB"),
        ("..wwwWWWW", "...wwWWW", "...bbbBBB"),
    ),
    legs_at=1,
)

COWBOY = Skin(
    colours="h=a46c3c H=7c4c2c y=f4d068 s=f0bc8c k=281c18 r=e04838 R=a83028 c=e8d8b0 v=6c4428 "
    "V=50301c p=4868a0 P=344c7c b=8c5430 B=6c4024 a=e8d8b0 g=f4d068",
    top="""
....hh.hh
...hhhhhhh
...hhhhhhh
h..yyyyyyy..h
hhhhhhhhhhhhh
.HHHHHHHHHHH
...HHsssss
...hsskssk
...hssssss
...shhhhhs
....ssssss
..rrrrrrrr
.ccrrrRrrcc
.cvvcrrcvvc
.cvvcccyvvc
.cv.vccvv.
.sVVkgkkVV
....vvkkk
""",
    legs=(
        ("..ppppPP", ".pppp.PPP", ".ppp...PP", ".bbbb..BBBB"),
        ("..ppppPP", ".PPPpppp", "BBB..bbbb"),
        ("..ppppPP", ".ppppPPP", "bbbb.BBBB"),
    ),
    legs_at=2,
    arms=(("aa", "aa", "aa", "ss"), ("aa..", "aaa.", ".aass"), ("aa.", "aa", "aa", "ss")),
    arm_at=(9, 13),
)

DIVER = Skin(
    colours="d=28384c D=1c2838 y=f8d048 Y=c89c30 c=78e8f4 C=d8ffff s=f0bc94 k=141a24 r=f05040 "
    "o=f87c30 p=28384c P=1c2838 f=f8d048 F=c89c30",
    top="""
...........r
....dddd...r
..ddddddd..r
.dddyyyyyyyr
.ddyccccccyr
.ddycCccCcyr
.ddyccccccyr
.dddyyyyyyky
.ddssssskkk
...dddddd
YydddddDdd
yyrddyydDddd
yydddyydD.dd
yydddyydD.ss
Yy.dooood
.Y.ddyydd
""",
    legs=(
        ("..pppPPP", "..pp..PP", "..ppf.PPF", ".ffffffFFFF"),
        ("..pppPPP", ".pp...PP", "fff...PPF", ".fff.FFFFF"),
        ("..pppPPP", "...pPPp", "...pffPF", ".ffffFFFF"),
    ),
    legs_at=1,
)

DOCTOR = Skin(
    colours="w=fcfcfc W=d0dce8 s=c88c60 S=a06c48 h=2c1c18 k=1c1414 c=48b8c8 r=e83c4c m=8c98a8 "
    "p=48b8c8 P=2c8898 b=f4f4f4 B=c8d0d8 l=2c3440",
    top="""
...hhhhh
..hhhhhhhh
.hhhhhhhhhh
.hhhssssmm
.hhssksssk
.hhssssssss
..hsswwwws
...sswwww
....SsSs
..wwcSscww
.wwwmccmwww
.wWwcmmcwwww
.wWwwcmwrwWw
.wWwwccwwwWw
.ssWwccww.ss
...Wwccwwlll
...WwccwWlrl
""",
    legs=(
        ("..WwccwWlll", "..WpppPP", "...pp.PP", "...bbbBBB"),
        ("..WwccwWlll", ".WPPppppW", ".BBB.bbbb"),
        ("..WwccwWlll", "..ppp.PPP", ".bbb..BBBB"),
    ),
    legs_at=1,
)

ELF = Skin(
    colours="g=3ca850 G=2c7c40 y=f8e47c s=fcd8b4 S=e0a888 k=203028 l=6cd06c t=8c5c34 w=f4f4e8 "
    "r=e84c48 p=e8d8b0 P=c4b088 b=6c4428 B=50321c",
    top="""
..r
.rrg
..rgggg
...GgggggG
..gggggggg
.yyyyyyyyy
.yyyssssss
ssyyskssks
.SsyyssssS....
.yy.sssss..t
.yy.gggg..wt
..ggglgg.w..t
..gGggggw...t
..gGtttsssssst
....yggw....t
...gggg.w...t
...g.gg..w.t
...........t
""",
    legs=(
        ("..ppp.PP", "..pp..PP", "..bbb.BBB"),
        (".ppp..PP", "bbb...BBB"),
    ),
    legs_at=1,
)

SKINS = {
    "astronaut": ASTRONAUT,
    "chef": CHEF,
    "clown": CLOWN,
    "cowboy": COWBOY,
    "diver": DIVER,
    "doctor": DOCTOR,
    "elf": ELF,
    "farmer": FARMER,
}
