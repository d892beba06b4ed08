"""Adventurers: knight, wizard, ninja, princess, pirate, viking, king, samurai, witch."""

from envs.platformer.art.skins.parts import STEP, SWING, WALK, Skin

KNIGHT = Skin(
    colours="m=ccd4e0 M=8a94ac w=ffffff k=20202c r=e04050 R=a02840 b=3c64c0 B=6c7690 y=f8d468 "
    "g=6c4830 p=a8b2c6 P=7c86a0",
    top="""
.rrrr
rrRmmmmm
rR.mwmmmmm
R..mwmmmmm
...mkkkkkk
...mmMkMkM
...MmMkMkM
....MMMMM
..mmbbbbbm
.mwmbbybbyyyyy
.mm.bbybbybwby
.mM.byyybybbby
.MM.bbybb.yby
....bbybb..y
....gggggg
""",
    legs=WALK,
)

WIZARD = Skin(
    colours="h=5048c0 H=383094 y=f8dc70 s=f4c898 k=20182c w=f4f4fc W=c4c8dc r=6c5cdc R=4840a8 "
    "t=8c5c38 o=7cf0e8 O=d8fff8 b=5c3c2c",
    top="""
......hh
.....hhhH.....
.....hhyH.....
....hhhhH...o
....hyhhHH.oOo
...hhhhhHH.ooo
..hhhhyhhHH.o
hhhhhhhhhhHHtt
...ssssss...tt
...sksksss..tt
..wwsssww...tt
..wwwwwwwwrsst
..rwwwwwwrrsst
.rrWwwwwrrr.tt
.rrrWwwrrR..tt
.rrrrWwrrR..tt
.rryrrrryR..tt
""",
    legs=(
        ("rrrrrrrrR.tt", "rrrryrrrRRtt", "ryrrrrrrRRtt", ".bbb..bbb"),
        ("rrrrrrrrR.tt", "rrrryrrrRRtt", ".bbb..bbbb"),
        ("rrrrrrrrR.tt", "rrryrrrrRRtt", "..bbbbbb"),
    ),
    legs_at=1,
)

NINJA = Skin(
    colours="d=3c425c l=5a6284 s=f4c494 k=14121c r=e83c4c R=a82438 m=d4dce8 M=98a4b8 p=363c56 "
    "P=282c42 b=565e7e B=444a66 a=3c425c",
    top="""
.M....ddddd
..M..ddlddddd
rrMr.ddlddddd
.rrrrrrrrrrrr
r.rrRdsssssss
...mdddsskssk
....mddssssss
.....dddddddd
....dmddddd
....ddmddddd
....dddmdddd
....rrrrrrrr
....ddddddrr
""",
    legs=WALK,
    legs_at=2,
    arms=SWING,
    arm_at=(6, 8),
)

PRINCESS = Skin(
    colours="y=fcdc6c h=f0b450 H=c8843c s=fcd4ac k=302038 c=f08c94 p=f47cb4 P=d05494 w=fff0f8 "
    "j=7ce4f4 b=c03c80",
    top="""
...y.j.y
...yyyyy
..hhhhhhh
.hhhhhhhhh
.hhhhsssss
hhhHsksskss
hhHHssssss
hhHHsscsss
hhH..ssss
hhH.ppjppp
.hHwppppww
..Hssppp.ss
....wwww.s
...pppppp
""",
    legs=(
        ("..pppppppp", ".pppwppppP", ".ppppppwpPP", "pppppppppPP", "wwPwwPwwPww"),
        ("..pppppppp", ".ppppppwpP", ".ppwppppppPP", "wwPwwPwwPwwP", "...bb...bb"),
    ),
    legs_at=0,
)

PIRATE = Skin(
    colours="k=3a3450 w=f4f0e8 s=e8b080 r=d83c44 h=4c3020 y=f8d060 b=2c2028 c=7c2c34 g=5c3c2c "
    "p=4c5c8c P=38446c a=7c2c34 m=dce4f0",
    top="""
.....kkkk
...kkkwkkk
..kkkwwwkkk
kkkkkkwkkkkkk
.yyyyyyyyyyy
..hhssssss
..hsskksks
..hsskkssss
..h.hhhhhs
....hhhhh
...ccwwwcc
..cccrwrccc..m
..ccywrwycc..m
..cccwrwccc.mm
..cccrrrccc.m
..gggyyggg.mm
..cccpppcc
""",
    legs=(
        ("..cppppPc", "..ppp.PP", "..ppp.gg", "..bbb.g", "..bbbb.g"),
        ("..cpppPPc", "..PPpppp", ".gg..ppp", "g....bbbb"),
        ("..cpppPPc", "..pppPPP", ".ppp..gg", "bbb....gg"),
    ),
    legs_at=2,
    arms=(("aa", "aa", "aa", "ss"), ("aa.", "aaa", ".aass"), ("aa.", "aaa", ".aass")),
    arm_at=(8, 11),
)

VIKING = Skin(
    colours="m=b0b4bc M=7c8494 w=f8f0dc W=d0c0a0 y=f0b040 s=f4c094 k=2c1c1c o=e8843c O=b85c28 "
    "f=8c6c50 F=6c5040 g=8c5c34 b=5c4030 B=44302c p=7c6450 P=5c4a40 x=dce4ec",
    top="""
w..........w
ww.mmmmmm.ww
WwwmMmmmmwwW
.WmmMmmmmmW
..yyyyyyyyy
..oossssss
..oosksksss.gx
..ooooossss.gx
..ooooooooo.gx
.fFoooooooo.gx
ffFfooooooF.g
ffFffoooofffg
ff.ggggOggffss
ss.fffyyff..g
...FfFfFfF..g
""",
    legs=STEP,
    legs_at=2,
)

KING = Skin(
    colours="y=fcd850 Y=d09c30 r=d83848 R=9c2438 w=fcfcfc W=c8ccd8 s=f4c8a0 k=282028 h=c8ccd8 "
    "v=7c3cb0 V=5c2c88 j=5ce0f0 b=5c3828",
    top="""
..y..y..y
..yy.yy.yy
..yyyyyyyy
..yryyjyyr
..hhssssss
..hsskssks
..hsssssss
..hwwwwwwww
...wwwwwww
.rrrwwwwrrr.yy
rrrwwWwwwrrryj
rrrrwwwrrrrryy
rRr.vwwwvrss.Y
rRr.vvwvvrss.Y
rRrvvvyvvvrr.Y
rRrvvvvvvvVr.Y
""",
    legs=(
        ("rrrvvvvvvVr.Y", "rrRvvvvvvVr.Y", "wwwwwwwwwww", ".W.bbb.bbb"),
        ("rrrvvvvvvVr.Y", "wwRvvvvvvww", ".Wwwwwwww", "..bbb..bbb"),
    ),
    legs_at=0,
)

SAMURAI = Skin(
    colours="y=f8cc48 k=34304c r=c83038 R=8c2030 d=544e6c D=3c3852 s=f0c494 m=f4f8ff g=e0b040 "
    "p=54304c P=3c2238 b=e8dcc0 B=b8a890 a=c83038",
    top="""
y.........y
.yy.....yy
..yykkkyy
..kkkyykkk
.kkkkkkkkkk
kkkkkkkkkkkk
rrDsssssss
rrDkkskkss
.rDDDDDDDD...m
..DDdDdDdD...m
.rrrkkkkkrr..m
rrgrrkkkrgrr.m
RrrrrrrrrrrR.m
..kgkgkgkg..gg
..rrrrrrrr
..kgkgkgkgg
.rrrRrrrRrr
""",
    legs=WALK,
    legs_at=2,
    arms=(("aaa", ".aaass"), ("aaa", ".aaass"), ("aaa", ".aaass")),
    arm_at=(8, 13),
)

WITCH = Skin(
    colours="h=3c2c5c l=584484 g=8cc864 G=5c9848 y=f8c840 k=201828 o=f07c34 O=c4582c r=f4f4d8 "
    "d=4c3878 D=362858 b=1e1828",
    top="""
hh
.hhh
..hhhhh
...hlhhh
...hlhhhh
..hllhhhh
..yyyyyyy
hhhhhhhhhhhhh
.oogggggg
.ooggkggkg
ooOggggggggg
ooOGgggggGg
oo..gkkkg
oo.ddgggdd
.o.dDddddd
..dddDddddd
..dd.dddd.gg
""",
    legs=(
        ("...dddddD", "..ddddddD", "..ddddddDD", ".dddddddDD", "...rb..rb", "...bbb.bbb"),
        ("...dddddD", "..ddddddD", "..ddddddDD", ".dddddddDD", "..rb...rb", ".bbb...bbb"),
        ("...dddddD", "..ddddddD", ".dddddddDD", ".dddddddDD", "....rbrb", "...bbbbbb"),
    ),
    legs_at=0,
)

SKINS = {
    "king": KING,
    "knight": KNIGHT,
    "ninja": NINJA,
    "pirate": PIRATE,
    "princess": PRINCESS,
    "samurai": SAMURAI,
    "viking": VIKING,
    "witch": WITCH,
    "wizard": WIZARD,
}
